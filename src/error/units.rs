//! Failures of activations, blends and special functions: see Note [Families of failures].

macro_rules! units {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    /// `addcdiv` of integers.
    AddcdivIntegers {},
    /// `lerp` of tensors of different types.
    LerpDTypes { argument: &'static str, expected: DType, got: DType },
    /// Bounds of which the lower one lies above the other.
    BoundsOrder {},
    /// `celu` without an alpha.
    CeluAlpha {},
    /// `softshrink` by less than nothing.
    SoftshrinkLambda { value: f64, dtype: DType },
    /// Weights of channels for a tensor without dimensions.
    PreluScalar {},
    /// Another number of slopes than of channels.
    PreluCount { weights: usize, channels: usize },
    /// Slopes of another type.
    PreluDTypes { left: DType, right: DType },
    /// Bounds of drawn slopes of which the lower one lies above the other.
    RreluBounds {},
    /// A halved dimension of odd size.
    HalvedSize { dim: usize, size: usize },
    /// A halved tensor without dimensions.
    GluScalar {},
    /// Truth values where numbers are bounded.
    HardtanhBool {},
    /// Numbers without a sign, to be bounded by one with it.
    HardtanhUnsigned {},
    /// A probability outside of 0 and 1.
    DropoutProbability { value: f64 },
    /// Two operands of different types for `heaviside`.
    HeavisideDTypes {},
    /// A derivative of a negative order.
    PolygammaOrder {},
    /// An unknown approximation of `gelu`.
    GeluApproximation {},
    }} };
}
pub(super) use units;
