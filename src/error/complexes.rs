//! Failures of complex numbers: see Note [Families of failures].

macro_rules! complexes {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    // Other readings of memory
    /// The parts of real numbers.
    RealParts {},
    /// The parts of numbers that are still to be conjugated, as a view.
    UnresolvedParts {},
    /// Parts of complex numbers that are integers.
    PairsDType { dtype: DType },
    /// Pairs without a dimension that holds the two.
    PairsWithoutDimension {},
    /// Pairs of other than two.
    PairsSize {},
    /// Pairs that do not lie side by side.
    PairsStride {},
    /// Pairs some of which begin in the middle of another.
    PairsOuterStride {},
    /// Pairs of which the first begins in the middle of another.
    PairsOffset {},
    /// The imaginary parts of real numbers.
    ImaginaryOfReal {},
    /// Another element type for numbers that are still to be conjugated, as a view.
    UnresolvedView { what: &'static str },

    // Making
    /// Parts of complex numbers of types that complex numbers have no parts of.
    PartsDType { left: DType, right: DType },
    /// Parts of complex numbers of two types.
    PartsDiffer { left: DType, right: DType },
    /// A complex factor for real numbers.
    AlphaComplex {},

    /// Random integers as complex numbers.
    RandomComplex {},
    /// Numbers of a distribution that has real ones only.
    CauchyDType { dtype: DType },

    /// A complex gradient that a function of the host answered for a real number.
    ComplexGradientOfReal {},

    // Refusals, as torch words them from one operation to the next
    /// A rounding of complex numbers.
    RoundedComplex { operation: &'static str },
    /// A bound for complex numbers.
    ClampedComplex {},
    /// A sign of complex numbers.
    SignOfComplex {},
    /// Degrees of complex numbers.
    DegreesOfComplex { operation: &'static str },
    /// The greater of complex numbers.
    ExtremeOfComplex { operation: &'static str },
    /// The place of the greatest of complex numbers.
    PlaceOfComplex { operation: &'static str },
    /// A question that is not asked of complex numbers.
    ComplexInputs { operation: &'static str },
    /// Complex numbers put in order.
    SortedComplex { operation: &'static str },
    /// The magnitudes of complex numbers in their own memory.
    AbsInPlace {},
    /// Sums of those complex numbers that are numbers.
    NanSumOfComplex {},
    /// Complex numbers that become real ones: told once.
    ImaginaryLost {},
    /// The conjugate transpose of a number: told once.
    AdjointOfNumber {},
    /// The conjugate transpose of a vector.
    AdjointOfVector {},
    }} };
}
pub(super) use complexes;
