//! Failures of reductions and losses: see Note [Families of failures].

macro_rules! reductions {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    // Reductions
    /// A floating-point result of integers.
    FloatNeeded { operation: &'static str, dtype: DType },
    /// A floating-point result asked for as integers.
    FloatResultNeeded { operation: &'static str, dtype: DType },
    /// The variance of integers.
    VarianceDType { operation: &'static str },
    /// The norm of a difference of integers.
    DistanceDType { dtype: DType },
    /// The norm of integers.
    NormDType { dtype: DType },
    /// A norm asked for as an integer.
    NormResultDType { dtype: DType },
    /// A norm asked for in a narrower type.
    NormNarrowing { from: DType, to: DType },
    /// A norm of no element that does not exist.
    NormEmpty { order: f64 },
    /// Norms along a dimension without elements that do not exist.
    NormEmptyDimension { order: f64, dim: usize },
    /// The extreme of no element.
    ReduceEmpty { operation: &'static str },
    /// The place of the extreme of no element.
    ArgumentReduceEmpty { operation: &'static str },
    /// Extremes along a dimension without elements.
    ReduceEmptyDimension { operation: &'static str, dim: i64 },
    /// Neither least nor greatest along an empty dimension.
    ExtremesEmptyDimension { dim: usize },
    /// Truth values where numbers are compared.
    BoolInput { operation: &'static str },

    // Losses
    /// An argument that gradients do not pass.
    ArgumentGradient { operation: &'static str, argument: &'static str },
    /// Classes of a tensor without dimensions.
    LossOfScalar {},
    /// A class that is not there.
    TargetRange { target: i64 },
    /// A class that is not there, of those that others are compared with.
    MarginTarget {},
    /// A class that is not there, of several right ones.
    MultilabelMarginTarget {},
    /// Another number of targets than of samples.
    TargetBatch { input: usize, target: usize },
    /// Classes of a type that they do not have.
    TargetDType { dtype: DType },
    /// Several classes for one sample.
    TargetDimensions {},
    /// Several classes for the only sample.
    SingleTarget { size: usize },
    /// A target of another number of dimensions than images need.
    TargetSpatial { ndim: usize },
    /// A target of other sizes than the images.
    TargetSizes { input: Vec<usize>, target: Vec<usize> },
    /// A target of other sizes than the input.
    TargetShape { expected: Vec<usize>, got: Vec<usize> },
    /// Another number of weights than of classes.
    ClassWeights { classes: usize, shape: Vec<usize> },
    /// Another number of weights than of classes with probabilities.
    ProbabilityWeights { classes: usize, shape: Vec<usize> },
    /// Probabilities of classes that are integers.
    ProbabilityDType { dtype: DType },
    /// A class to ignore where classes have probabilities.
    ProbabilityIgnored {},
    /// Probabilities outside of 0 and 1.
    ProbabilityRange { argument: &'static str },
    /// A part to spread over all classes that is none.
    LabelSmoothing { value: f64 },
    /// A bound between small and large errors that is none.
    LossBound { operation: &'static str, sign: &'static str, argument: &'static str },
    /// A variance without degrees of freedom: told.
    DegreesOfFreedom { operation: &'static str },
    }} };
}
pub(super) use reductions;
