//! Failures of making tensors: ranges, sizes, random numbers, memory: see Note [Families of failures].

macro_rules! making {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    // Making tensors
    /// A range that does not advance.
    RangeStep {},
    /// A range of integers whose step is less than one.
    RangeStepTruncated {},
    /// A range that goes the wrong way.
    RangeBounds {},
    /// A range without an end.
    RangeInfinite { start: f64, end: f64 },
    /// A range of more numbers than can be counted.
    RangeOverflow {},
    /// A number of steps below zero.
    StepsNegative {},
    /// A side of a unit matrix below zero.
    EyeNegative { argument: &'static str, size: i64 },
    /// `zeros` of a negative size.
    ZerosNegative {},
    /// A number that the element type cannot hold.
    ValueOverflow { name: &'static str },
    /// A default type that is not a floating-point one.
    DefaultDType {},

    // Random numbers
    /// A standard deviation below zero.
    NormalDeviation { std: f64 },
    /// An empty interval.
    UniformBounds { low: f64, high: f64 },
    /// An empty range of integers.
    RandomBounds { low: i64, high: i64 },
    /// A bound that the element type cannot hold.
    RandomRange { argument: &'static str, dtype: DType },
    /// A bound beyond which the element type has gaps between integers.
    RandomPrecision { argument: &'static str, digits: u32, dtype: DType },
    /// An interval that is wider than the greatest number.
    UniformWidth { low: f64, high: f64, dtype: DType },
    /// Probabilities outside of [0, 1].
    Probability {},
    /// A mean of counts that is less than zero.
    PoissonRate {},
    /// An argument of `binomial` that is not floating-point.
    BinomialDType { argument: &'static str, dtype: DType },
    /// Arguments of `binomial` that differ in type.
    BinomialDTypes { expected: DType, found: DType },
    /// One parameter of a distribution outside of its range.
    DistributionParameter {
        operation: &'static str,
        argument: &'static str,
        range: &'static str,
        verb: &'static str,
        value: f64,
    },
    /// An exponential distribution of integers.
    ExponentialDType { dtype: DType },
    /// Standard deviations below zero.
    NormalDeviations {},
    /// Standard deviations that are complex.
    NormalDeviationsComplex {},
    /// More numbers to permute than the element type counts.
    PermutationLength { most: &'static str, dtype: DType },
    /// Weights of another shape than a vector or a matrix.
    ChoiceDimensions {},
    /// Weights of integers.
    ChoiceDType { dtype: DType },
    /// A number of choices below one.
    ChoiceCount {},
    /// More choices than there are elements, without replacement.
    ChoiceExhausted {},
    /// Weights that are negative, infinite or not a number.
    ChoiceWeights {},
    /// A weight that is negative or not a number, where choices are made with replacement.
    ChoiceNegative {},
    /// A weight that is infinite, where choices are made with replacement.
    ChoiceInfinite {},
    /// Weights that are all zero.
    ChoiceSum {},
    /// The state of a generator that has another size.
    GeneratorStateSize { expected: usize, got: usize },
    /// Bytes that are no state of a generator.
    GeneratorState {},
    /// The state of a generator that is not made of bytes.
    GeneratorStateDType {},

    // Memory
    /// Memory that could not be had.
    OutOfMemory { bytes: u64 },
    /// More brackets within brackets than are printed.
    PrintedDimensions {},

    // What there is none of
    /// A device that there is none of.
    NoCuda {},
    /// Memory that shall lie as that of nothing.
    EmptyKept {},
    /// Ends of a range that are no numbers.
    RangeEnds { operation: &'static str, got: String },
    /// Real numbers between complex ones.
    RangeNarrowing { operation: &'static str, inferred: DType, dtype: DType },
    }} };
}
pub(super) use making;
