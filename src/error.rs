//! Everything that can go wrong, as data: one variant a failure, fields instead of sentences.
//! Hosts word the failures; the `Display` here is for users of the crate from Rust.

use std::any::Any;
use std::fmt;

use crate::dtype::{DType, Scalar};
use crate::origin::Origin;

/// The result of an engine call. The error is boxed so that the good path stays small.
pub type Result<T> = std::result::Result<T, Box<Error>>;

/// The content of one field of an error.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A count, a dimension, an index.
    Int(i64),
    /// A number that may have a fraction.
    Float(f64),
    /// A name or a piece of text.
    Text(String),
    /// Sizes or strides.
    Shape(Vec<i64>),
    /// An element type.
    DType(DType),
    /// A truth value.
    Bool(bool),
    /// A place in the host's program.
    Origin(Origin),
}

/// Types that error fields may have.
pub trait Field {
    /// The field as a value for the host.
    fn value(&self) -> Value;
}

/// A failure of the host's own making (an exception raised by a hook), passed through unchanged.
pub struct Foreign(pub Box<dyn Any + Send + Sync>);

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Foreign")
    }
}

/// Declares the enum from a list of `Kind { field: Type }`, together with `kind`, `fields` and
/// `KINDS`. `errors! { /// … Broken { dim: usize } }` gives `Error::Broken { dim }`,
/// `"Broken"`, `[("dim", Value::Int(..))]` and `KINDS == [("Broken", ["dim"])]`.
macro_rules! errors {
    ($($(#[$doc:meta])* $kind:ident { $($field:ident: $T:ty),* $(,)? }),* $(,)?) => {
        /// A failure, by kind.
        #[derive(Debug)]
        #[allow(missing_docs)] // the fields are named for what they are
        pub enum Error {
            $($(#[$doc])* $kind { $($field: $T),* },)*
            /// An exception of the host on its way back to it.
            Foreign(Foreign),
        }
        impl Error {
            /// Every kind that needs words, with the names of its fields.
            pub const KINDS: &'static [(&'static str, &'static [&'static str])] =
                &[$((stringify!($kind), &[$(stringify!($field)),*])),*];
            /// The name of the kind.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Error::$kind { .. } => stringify!($kind),)*
                    Error::Foreign(_) => "Foreign",
                }
            }
            /// The fields by name.
            pub fn fields(&self) -> Vec<(&'static str, Value)> {
                match self {
                    $(Error::$kind { $($field),* } => vec![$((stringify!($field), $field.value())),*],)*
                    Error::Foreign(_) => Vec::new(),
                }
            }
        }
    };
}

errors! {
    // Shapes
    /// Two sizes that neither agree nor broadcast.
    NotBroadcastable { left: usize, right: usize, dim: usize },
    /// A dimension outside of the tensor's.
    DimOutOfRange { dim: i64, low: i64, high: i64 },
    /// A dimension asked of a tensor that has none.
    DimOfScalar { dim: i64, operation: &'static str },
    /// The same dimension named twice.
    DimRepeated { dim: usize, operation: &'static str },
    /// A negative size.
    NegativeDimension { dim: i64, shape: Vec<i64> },
    /// More elements than memory can be addressed for.
    TooManyElements { shape: Vec<i64> },
    /// Sizes below zero, which make no number of elements.
    TooManyNegative {},
    /// `view` to another type of a tensor whose last dimension does not divide.
    ViewDTypeSize { from: DType, to: DType, ratio: usize, size: usize },
    /// `view` to a wider type from an element that such a type cannot start at.
    ViewDTypeOffset { from: DType, to: DType, ratio: usize, offset: usize },
    /// `view` to a type of another size without dimensions.
    ViewDTypeScalar { from: DType, to: DType },
    /// `view` to a type of another size of elements that do not lie side by side.
    ViewDTypeStride { from: DType, to: DType, stride: usize },
    /// `view` to a wider type of which rows do not begin at an element.
    ViewDTypeStep { from: DType, to: DType, dim: usize, ratio: usize, stride: usize },
    /// `view` or `reshape` to a number of elements that differs.
    ViewSize { shape: Vec<i64>, numel: usize },
    /// A `-1` in a shape that leaves its size open.
    ViewAmbiguous { shape: Vec<i64> },
    /// Two `-1` in one shape.
    ViewInferTwice {},
    /// A negative size other than `-1` in the shape of a view.
    ViewNegative { size: i64, index: usize, shape: Vec<i64> },
    /// A `view` that the strides do not allow.
    ViewStride {},
    /// `expand` to fewer dimensions.
    ExpandRank { dtype: DType, expand: Vec<i64>, shape: Vec<usize>, wanted: usize, ndim: usize },
    /// `expand` of a size that is neither one nor equal.
    ExpandSize { wanted: i64, size: usize, dim: usize, target: Vec<i64>, shape: Vec<usize> },
    /// `expand` by `-1` in a new leading dimension.
    ExpandLeading { wanted: i64, dim: usize },
    /// `flatten` from a dimension to one before it.
    FlattenOrder {},
    /// `unflatten` into sizes that do not make the dimension.
    UnflattenSizes { sizes: Vec<i64>, dim: usize, size: usize },
    /// `unflatten` into no sizes.
    UnflattenEmpty {},
    /// `t` of more than a matrix.
    TransposeDimensions { ndim: usize },
    /// The transposed matrices of less than a matrix.
    MatrixTransposeDimensions { attribute: &'static str, ndim: usize },
    /// `permute` with another number of dimensions.
    PermuteCount { ndim: usize, given: usize },
    /// `permute` with a dimension named twice.
    PermuteRepeated {},
    /// `movedim` from and to different numbers of dimensions.
    MovedimCount { source: Vec<i64>, destination: Vec<i64> },
    /// `movedim` with a dimension named twice.
    MovedimRepeated { argument: &'static str, dims: Vec<i64> },
    /// A diagonal of one dimension.
    DiagonalDimensions { dim1: i64, dim2: i64 },
    /// `repeat` of fewer dimensions than there are.
    RepeatCount {},
    /// `repeat_interleave` a negative number of times.
    RepeatsNegative {},
    /// `repeat_interleave` a negative number of times, for some element.
    RepeatsBelowZero {},
    /// `repeat_interleave` with numbers for more or fewer elements.
    RepeatsCount { repeats: usize, dim: usize, size: usize },
    /// `roll` with more or fewer shifts than dimensions.
    RollCount { shifts: usize, ndim: usize },
    /// A triangle of less than a matrix.
    TriangleDimensions { operation: &'static str },
    /// `diag` of neither vector nor matrix.
    DiagDimensions { ndim: usize },
    /// `as_strided` with as many strides as sizes not given.
    StridedRank { sizes: usize, strides: usize },
    /// A negative stride.
    StridedNegative { stride: i64, strides: Vec<i64> },
    /// A negative offset.
    StridedOffset { offset: i64 },
    /// A window beyond the end of the storage.
    StridedBounds { shape: Vec<i64>, strides: Vec<i64>, offset: i64, item: usize, needed: i64, bytes: usize },
    /// A shape that one operation needs and another that it got.
    OutputShape { output: Vec<usize>, broadcast: Vec<usize> },

    // Matrices
    /// Two matrices whose sizes do not fit.
    MatrixSizes { rows1: usize, columns1: usize, rows2: usize, columns2: usize },
    /// A product of tensors of any rank with a tensor without dimensions.
    MatmulScalar { operation: &'static str, ndim1: usize, ndim2: usize },
    /// Two matrices of different types.
    MatrixDTypes { dtype1: DType, dtype2: DType },
    /// Two matrices of different types, where something is added to their product.
    LinearDTypes { dtype1: DType, dtype2: DType },
    /// What is added to a product is of another type.
    AddmmDTypes { dtype1: DType, dtype2: DType },
    /// What is added to the products of batches, or one of the batches, is of another type.
    BatchDTypes { dtype: DType, dtype1: DType, dtype2: DType },
    /// An argument that is not a matrix.
    NotMatrix { argument: &'static str },
    /// An argument that is not a matrix, where something is added to the product.
    MatrixRank { argument: &'static str, ndim: usize },
    /// A product that does not have the shape of what it would overwrite.
    ProductInPlace { input: Vec<usize>, output: Vec<usize> },
    /// Two batches of matrices whose sizes do not fit.
    BatchSizes { batch1: usize, columns1: usize, batch2: usize, rows2: usize },
    /// An argument that is not a batch of matrices.
    NotBatch { argument: &'static str },
    /// An argument of another type than the one before.
    ScalarTypeExpected { expected: DType, got: DType },
    /// A matrix and a vector whose sizes do not fit, and the size of what is added.
    MatrixVectorSizes { size: usize, rows: usize, columns: usize, length: usize },
    /// Arguments that are not a matrix and a vector.
    MatrixVectorDimensions { ndim: usize, ndim1: usize, ndim2: usize },
    /// A matrix and a vector of different types.
    MatrixVectorDTypes { dtype: DType, dtype1: DType, dtype2: DType },
    /// Two vectors of different lengths.
    DotSizes { length1: usize, length2: usize },
    /// Arguments that are not two vectors.
    DotDimensions { ndim1: usize, ndim2: usize },
    /// Two vectors of different types.
    DotDTypes { dtype1: DType, dtype2: DType },
    /// An argument of an outer product that is not a vector.
    OuterDimensions { argument: &'static str, ndim: usize },
    /// Two tensors whose last dimensions differ.
    InnerSizes { shape1: Vec<usize>, shape2: Vec<usize> },

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
    /// An interval that is wider than the greatest number.
    UniformWidth { low: f64, high: f64, dtype: DType },
    /// Probabilities outside of [0, 1].
    Probability {},
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
    /// More numbers to permute than the element type counts.
    PermutationLength { power: u32, dtype: DType },
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

    // Indexing
    /// More indices than dimensions.
    IndexCount { ndim: usize },
    /// An index of a tensor without dimensions.
    IndexOfScalar {},
    /// An index of an element that is not there.
    IndexRange { index: i64, dim: usize, size: usize },
    /// An index of a dimension without elements.
    IndexOfEmpty {},
    /// A mask of another shape.
    MaskShape { mask: Vec<usize>, mask_dim: usize, shape: Vec<usize>, dim: usize },
    /// Indices that are not integers.
    IndexDType {},
    /// Tensors of indices that do not broadcast together.
    IndexShapes { shapes: String },
    /// A value that does not fit what an index names.
    IndexedValueShape { value: Vec<usize>, result: Vec<usize> },
    /// A value of another type than what an index names.
    IndexedValueDType { destination: DType, source: DType },
    /// Indices of a type that the operation does not take.
    IndexDTypeOf { operation: &'static str, expected: &'static str },
    /// Indices of another number of dimensions.
    GatherDimensions { argument: &'static str },
    /// Indices that are larger than the tensor.
    GatherShape { at: usize, index: Vec<usize>, shape: Vec<usize>, dim: usize },
    /// Indices of elements that are not there, in `gather` and `scatter`.
    GatherRange { index: i64, dim: usize, size: usize },
    /// Indices that are larger than the tensor that is written to.
    ScatterShape { index: Vec<usize>, shape: Vec<usize>, dim: usize },
    /// Indices that are larger than the tensor that is written to, or than the values.
    ScatterSource { index: Vec<usize>, shape: Vec<usize>, dim: usize, source: Vec<usize> },
    /// Values of another type.
    ScatterDType { operation: &'static str },
    /// Indices along a dimension that are no vector.
    IndexVector { operation: &'static str },
    /// Indices along a dimension of a tensor without dimensions.
    IndexScalarCount { count: usize },
    /// `index_select` of an element that is not there.
    IndexSelectRange {},
    /// `index_select` of an element of a matrix that is not there.
    IndexSelectMatrix { index: i64, size: usize },
    /// Another number of indices than of slices.
    IndexAddCount { indices: usize, size: usize, dim: usize },
    /// Slices of another shape.
    IndexAddShape { shape: Vec<usize>, source: Vec<usize> },
    /// Indices that are not integers.
    IndexAddDType { dtype: DType },
    /// Indices that are no vector.
    IndexAddVector { ndim: usize, dtype: DType, shape: Vec<usize> },
    /// A dimension that the slices do not have.
    IndexAddDim { dim: usize, ndim: usize },
    /// Slices of another type.
    IndexAddDTypes { dtype1: DType, dtype2: DType },
    /// Another number of indices than of slices.
    IndexCopyCount { indices: usize, size: usize },
    /// `index_copy` to an element that is not there.
    IndexCopyRange { index: i64, dim: usize, size: usize },
    /// Slices of another shape.
    IndexCopyShape { destination: String, dim: usize, source: String },
    /// Slices of another number of dimensions.
    IndexCopyDimensions { source: usize, destination: usize },
    /// Slices of another type.
    IndexCopyDTypes { dtype1: DType, dtype2: DType },
    /// Indices that are no vector.
    IndexCopyVector { ndim: usize },
    /// Several indices for one number.
    IndexCopyScalar { count: usize },
    /// Indices that are not integers.
    IndexFillDType {},
    /// Indices that are no vector.
    IndexFillVector {},
    /// A value with dimensions.
    IndexFillValue { ndim: usize },
    /// `take` of an element that is not there.
    TakeRange { index: i64, numel: usize },
    /// `take` from nothing.
    TakeEmpty {},
    /// Indices of another type.
    LongIndex { operation: &'static str, dtype: DType },
    /// A mask that is not boolean.
    SelectMask {},
    /// A mask that is not boolean.
    MaskedScatterMask { dtype: DType },
    /// Fewer values than places.
    MaskedScatterCount {},
    /// Values of another type.
    MaskedScatterDTypes { dtype1: DType, dtype2: DType },

    // Parts and joins
    /// A part asked of a tensor without dimensions.
    NotOfScalar { operation: &'static str },
    /// `select` of an element that is not there.
    SelectRange { index: i64, shape: Vec<usize>, dim: usize },
    /// A slice that does not step forward.
    SliceStep {},
    /// `narrow` of a tensor without dimensions.
    NarrowScalar {},
    /// `narrow` to a negative length.
    NarrowNegative {},
    /// `narrow` from an element that is not there.
    NarrowStart { low: i64, high: i64, start: i64 },
    /// `narrow` beyond the end.
    NarrowLength { start: i64, length: i64, size: i64 },
    /// A split of a tensor without dimensions.
    SplitScalar { operation: &'static str },
    /// A split into parts of negative length.
    SplitNegative { size: i64 },
    /// A split into parts without elements.
    SplitZero { size: usize },
    /// A split into parts some of which have a negative length.
    SplitSizesNegative { sizes: Vec<i64> },
    /// A split into parts that are not the whole.
    SplitSum { size: usize, dim: usize, sizes: Vec<i64> },
    /// `chunk` into no parts.
    ChunkCount { chunks: i64 },
    /// `tensor_split` of a tensor without dimensions.
    TensorSplitScalar {},
    /// `tensor_split` into no parts.
    SectionCount { sections: i64 },
    /// `cat` of nothing.
    CatEmpty {},
    /// `cat` of a tensor without dimensions.
    CatScalar { position: usize },
    /// `cat` of tensors with different numbers of dimensions.
    CatDimensions { first: usize, got: usize },
    /// `cat` of tensors with different sizes in other dimensions.
    CatSizes { dim: usize, expected: usize, got: usize, position: usize },
    /// A stack of nothing.
    StackEmpty { operation: &'static str },
    /// A stack of tensors with different shapes.
    StackSizes { first: Vec<usize>, got: Vec<usize>, position: usize },
    /// A grid of more than vectors.
    MeshgridDimensions { ndim: usize },
    /// A grid of vectors of different types.
    MeshgridDTypes {},

    // Reductions
    /// A floating-point result of integers.
    FloatNeeded { operation: &'static str, dtype: DType },
    /// A floating-point result asked for as integers.
    FloatResultNeeded { operation: &'static str, dtype: DType },
    /// The variance of integers.
    VarianceDType {},
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
    ReduceEmptyDimension { operation: &'static str, dim: usize },
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
    /// A probability outside of 0 and 1.
    DropoutProbability { value: f64 },
    /// Two operands of different types for `heaviside`.
    HeavisideDTypes {},
    /// A derivative of a negative order.
    PolygammaOrder {},
    /// Truth values where numbers are compared.
    BoolInput { operation: &'static str },

    // Losses
    /// An argument that gradients do not pass.
    ArgumentGradient { operation: &'static str, argument: &'static str },
    /// Classes of a tensor without dimensions.
    LossOfScalar {},
    /// A class that is not there.
    TargetRange { target: i64 },
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

    // Types
    /// A result that may not be written into memory of that type.
    ResultCast { from: DType, to: DType },
    /// A difference of truth values.
    SubtractBool {},
    /// A difference of a truth value and something else.
    SubtractWithBool {},
    /// The negative of truth values.
    NegateBool {},
    /// The positive of truth values.
    PositiveBool {},
    /// `relu` of truth values.
    ReluBool {},
    /// A factor with a fraction for integers.
    AlphaFloat {},
    /// A truth value as factor for something else.
    AlphaBool {},
    /// Two tensors whose types must be the same.
    DTypesDiffer { left: DType, right: DType },
    /// `where` with a condition that is not made of truth values.
    WhereCondition { dtype: DType },
    /// `masked_fill` with a mask that is not made of truth values.
    MaskedFillMask { dtype: DType },
    /// An operation that does not exist for this type.
    NotImplementedFor { operation: &'static str, dtype: DType },
    /// `fill_` with a tensor that has dimensions.
    FillValue { ndim: usize },
    /// A gradient asked of integers.
    RequiresGradDType {},
    /// A gradient asked of integers at the making of a tensor.
    RequiresGradFactoryDType {},

    // Values
    /// Integers divided by zero.
    IntegerDivision {},
    /// Integers to a negative power.
    IntegerPower {},
    /// A rounding that does not exist.
    RoundingMode { mode: String },
    /// `clamp` without bounds.
    ClampBounds {},
    /// `masked_fill` with a tensor that has dimensions.
    MaskedFillValue { ndim: usize },
    /// A tolerance below zero.
    NegativeTolerance { argument: &'static str, value: f64 },

    // Layers
    /// A convolution with another number of steps than dimensions.
    ConvolutionCount { argument: &'static str, count: usize, got: Vec<i64> },
    /// A convolution with a number of the wrong sign.
    ConvolutionSign { what: &'static str },
    /// A convolution of an input of another number of dimensions than the weight has.
    ConvolutionRank { ndim: usize, weight: Vec<usize>, input: Vec<usize> },
    /// A convolution with fewer filters than groups.
    ConvolutionLeading { groups: usize, weight: Vec<usize> },
    /// A convolution with filters that do not fall into groups.
    ConvolutionGroups { groups: usize, weight: Vec<usize> },
    /// A convolution of an input with other channels.
    ConvolutionChannels { groups: String, weight: Vec<usize>, input: Vec<usize>, expected: usize, got: usize },
    /// A convolution with another number of biases than channels.
    ConvolutionBias { transposed: &'static str, weight: Vec<usize>, channels: usize, bias: Vec<usize> },
    /// A convolution with a kernel that is larger than the input.
    ConvolutionKernel { padded: Vec<i64>, kernel: Vec<i64> },
    /// A transposed convolution with more padding behind than a step.
    ConvolutionOutputPadding { output_padding: Vec<i64>, stride: Vec<i64>, dilation: Vec<i64> },
    /// A transposed convolution whose result has a negative size.
    ConvolutionTooSmall { input: Vec<usize>, output: Vec<i64> },
    /// A convolution with a weight that is no filter.
    ConvolutionWeight {},
    /// A convolution of tensors of different types.
    ConvolutionDTypes { input: DType, weight: DType },
    /// A convolution with a bias of another type.
    ConvolutionBiasDType { input: DType, bias: DType },
    /// A convolution of neither a sample nor a batch.
    ConvolutionInput { operation: &'static str, single: usize, batched: usize, shape: Vec<usize> },
    /// A convolution that leaves sizes but takes steps.
    ConvolutionSameStride {},
    /// Windows that do not move on.
    PoolStride {},
    /// Windows without elements.
    PoolKernel {},
    /// Windows of one element again and again.
    PoolDilation { dilation: Vec<i64> },
    /// Pooling with negative padding.
    PoolPaddingNegative { padding: i64 },
    /// Pooling with more padding than half of a window.
    PoolPadding { padding: i64, kernel: i64, dilation: i64 },
    /// Pooling of less than a window.
    PoolTooSmall { channels: usize, input: String, output: String },
    /// A mean over no element.
    PoolDivisor {},
    /// Pooling into a negative number of windows.
    AdaptivePoolNegative { sizes: Vec<i64>, spatial: usize },
    /// Padding that names one side of a dimension only.
    PadOdd {},
    /// Padding of more dimensions than there are.
    PadLong { length: usize, ndim: usize },
    /// A mirror that shows more than there is.
    PadReflection { argument: usize, padding: Vec<i64>, dim: usize, shape: Vec<usize> },
    /// Padding that leaves nothing.
    PadTooSmall { size: i64, output: i64, dim: usize },
    /// Resampling from nothing or to nothing.
    UpsampleSizes { input: Vec<i64>, output: Vec<i64> },
    /// Sliding windows with a number of the wrong sign.
    FoldSign { what: &'static str, values: Vec<i64> },
    /// An image that holds no window.
    FoldEmpty { size: Vec<i64>, kernel: Vec<i64>, dilation: Vec<i64>, padding: Vec<i64>, counts: Vec<i64> },
    /// Windows of what is no image.
    UnfoldRank { shape: Vec<usize> },
    /// Columns that are no matrix.
    FoldRank { shape: Vec<usize> },
    /// Columns that are no windows.
    FoldChannels { got: usize, kernel: Vec<i64> },
    /// More or fewer columns than windows.
    FoldPlaces { size: Vec<i64>, kernel: Vec<i64>, dilation: Vec<i64>, padding: Vec<i64>, stride: Vec<i64>, rows: usize, columns: usize, places: usize, got: usize },
    /// Weights of another type than what is normalised.
    NormaliseDType { dtype: DType },
    /// Another number of statistics or weights than of channels.
    BatchNormCount { argument: &'static str, expected: usize, got: usize },
    /// Statistics that are missing when they are all there is.
    BatchNormRunning { argument: &'static str },
    /// Normalisation over no dimension.
    NormalizedShapeEmpty {},
    /// A weight or bias of another shape than what is normalised.
    NormalizedAffine { argument: &'static str, got: Vec<usize>, normalized: Vec<i64> },
    /// Normalisation over dimensions of other sizes.
    NormalizedShape { normalized: Vec<i64>, list: String, shape: Vec<usize> },
    /// Channels asked of less than a matrix.
    GroupNormRank { ndim: usize },
    /// No group of channels.
    GroupNormCount { groups: i64 },
    /// Channels that do not fall into groups.
    GroupNormChannels { shape: Vec<usize>, groups: i64 },
    /// A weight or bias for another number of channels.
    GroupNormAffine { argument: &'static str, got: Vec<usize>, shape: Vec<usize> },
    /// A table that is no matrix.
    EmbeddingWeight {},
    /// Numbers of rows that are no integers.
    EmbeddingDType { dtype: DType },
    /// Channels left out of less than a matrix.
    FeatureDropoutRank {},
    /// Channels of less than images.
    ShuffleRank { operation: &'static str, ndim: usize },
    /// Images made that many times larger or smaller.
    ShuffleFactor { operation: &'static str, argument: &'static str, factor: i64 },
    /// Channels that are no parts of images.
    PixelShuffleChannels { channels: i64, square: i64 },
    /// Images that do not fall into parts.
    PixelUnshuffleSize { dimension: &'static str, dim: i64, size: i64, factor: i64 },
    /// Channels that do not fall into groups.
    ChannelShuffleGroups { groups: i64, channels: i64 },
    /// Windows along a dimension that is shorter.
    UnfoldSize { dim: i64, size: i64, step: usize },
    /// Windows of negative size.
    UnfoldNegative { size: i64 },
    /// Windows that do not move on.
    UnfoldStep { step: i64 },

    // Orders and composites
    /// More elements asked for than there are.
    TopkCount {},
    /// An element picked of a dimension without elements.
    PickEmpty { operation: &'static str, dim: usize },
    /// An element asked for beyond the last.
    KthvalueCount { dim: usize },
    /// Indices that are not of the widest type.
    TakeAlongDType { dtype: DType },
    /// Indices of another number of dimensions.
    TakeAlongRank { input: usize, indices: usize },
    /// The mean of integers.
    NanmeanDType { dtype: DType },
    /// The extremes of no element.
    AminmaxEmpty {},
    /// A share outside of 0 and 1.
    QuantileShare { q: f64 },
    /// Powers in place of less than double precision.
    FloatPowerDType { dtype: DType },
    /// The trace of what is no matrix.
    TraceRank { ndim: usize },
    /// An ellipsis that is none.
    EinsumEllipsis { index: usize },
    /// A subscript that is no letter.
    EinsumSubscript { index: usize },
    /// Another number of subscripts than of dimensions.
    EinsumRank { subscripts: usize, ndim: usize, how: &'static str, operand: usize, tail: &'static str },
    /// A diagonal of dimensions of different sizes.
    EinsumRepeated { label: String, operand: usize, size: usize, expected: usize },
    /// An equation without operands.
    EinsumNone {},
    /// More or fewer operands than the equation has.
    EinsumCount { how: &'static str },
    /// Dimensions of one subscript that do not broadcast.
    EinsumBroadcast { label: String, size: usize, operand: usize, expected: usize },
    /// A subscript of the result that is there twice.
    EinsumOutputTwice { label: String },
    /// A subscript of the result that no operand has.
    EinsumOutputUnknown { label: String },
    /// Different numbers of dimensions to sum over.
    TensordotCount {},
    /// Dimensions to sum over that have different sizes.
    TensordotSizes { size1: usize, dim1: i64, size2: usize, dim2: i64 },
    /// An outer product of what is no vector.
    AddrRank { argument: &'static str, ndim: usize },
    /// A turn in other than two dimensions.
    RotationCount { count: usize },
    /// A turn of less than a matrix.
    RotationRank { ndim: usize },
    /// A turn from a dimension to itself.
    RotationSame { first: i64, second: i64 },
    /// Elements for a part of another shape.
    ScatterSlice { source: Vec<usize>, slice: Vec<usize> },
    /// Differences along no dimension.
    DiffScalar {},
    /// Differences a negative number of times over.
    DiffOrder { order: i64 },
    /// Covariances of more than a matrix.
    CovRank { ndim: usize },
    /// Distances of what has no rows.
    CdistRank { name: &'static str, ndim: usize },
    /// Distances of rows of different lengths.
    CdistColumns { first: usize, second: usize },
    /// A bound on a norm that is none.
    RenormOrder {},
    /// Vectors crossed with tensors of other numbers of dimensions.
    CrossRank {},
    /// Vectors crossed that have not three elements.
    CrossSize { dim: i64, left: usize, right: usize },
    /// Numbers that cannot be counted.
    BincountInput {},
    /// A flip of too few dimensions.
    FlipRank { least: usize },
    /// A split of too few dimensions.
    SplitRank { operation: &'static str, least: usize, ndim: usize },
    /// A split into parts of different sizes.
    SplitUneven { operation: &'static str, dim: usize, size: usize, sections: i64 },

    // Linear algebra
    /// Linear algebra of less than a matrix.
    LinearRank { operation: &'static str },
    /// Linear algebra of a matrix that is not square.
    MatrixSquare { operation: &'static str, rows: usize, columns: usize },
    /// Linear algebra of integers.
    MatrixDType { operation: &'static str, dtype: DType },
    /// A matrix without inverse.
    InverseSingular { place: String, step: usize },
    /// Equations without a solution.
    SolveSingular { place: String },
    /// Equations of different types.
    SolveDTypes { left: DType, right: DType },
    /// Equations with more or fewer right sides than left ones.
    SolveShapes { side: usize, rows: usize, columns: usize },
    /// A matrix that is not positive.
    NotPositive { place: String, order: usize },

    // Memory
    /// Memory that could not be had.
    OutOfMemory { bytes: u64 },

    // Autograd
    /// `requires_grad` set on a tensor that an operation made.
    RequiresGradNonLeaf {},
    /// An in-place operation on a leaf.
    LeafModified {},
    /// An in-place operation on a view of a leaf.
    LeafViewModified {},
    /// An in-place operation on one of several views made at once.
    MultiViewModified { function: String, output: u32 },
    /// An in-place operation with gradient on a view made without.
    NoGradViewModified {},
    /// A view made without gradient, after its base was modified in place with gradient.
    NoGradViewStale {},
    /// An in-place operation outside of inference mode on a tensor made in it.
    InferenceModified {},
    /// An in-place operation outside of inference mode on a view made in it.
    InferenceViewModified {},
    /// A view made in inference mode, after its base was modified in place.
    InferenceViewStale {},
    /// `requires_grad` set outside of inference mode on a tensor made in it.
    InferenceRequiresGrad {},
    /// A tensor made in inference mode that backward would need.
    InferenceSaved {},
    /// The version of a tensor made in inference mode.
    InferenceVersion {},
    /// One of several views made at once, after their base was modified in place.
    MultiViewStale { function: String, output: u32 },
    /// An in-place operation on a view that a function of the host returned.
    CustomViewModified { function: String, output: u32 },
    /// A view that a function of the host returned, after its base was modified in place.
    CustomViewStale { function: String, output: u32 },
    /// A leaf that a function of the host wrote to.
    LeafOverwritten {},
    /// A view that a function of the host wrote to and returned among others.
    DirtyViewOfMany {},
    /// What a function of the host wrote to and did not return.
    DirtyNotReturned {},
    /// An input that a function of the host returned as it is, and keeps.
    ReturnedInputKept {},
    /// A tangent of what was written to in place, which was not itself written to.
    TangentReplaced {},
    /// A tangent of an output that has none.
    TangentOfConstant { position: usize },
    /// Hooks of saved tensors where somebody forbade them, in these words.
    PackingRefused { message: String },
    /// A hook that packs a saved tensor and writes to it.
    PackingWrote {},
    /// A saved tensor packed after it was freed.
    PackingFreed {},
    /// A saved tensor packed twice.
    PackedAlready {},
    /// Something packed that is not there.
    PackedNothing {},
    /// A second derivative of what was said to have none.
    OnceDifferentiable {},
    /// A saved tensor that was overwritten.
    Modified {
        dtype: DType,
        shape: Vec<usize>,
        source: String,
        output: u32,
        version: u32,
        expected: u32,
        anomaly: bool,
        node: String,
        saved: Origin,
        written: Origin,
    },
    /// The graph was freed by an earlier backward.
    BackwardTwice { node: String, recorded: Origin, run: Origin },
    /// A gradient that is not a number, where that is looked for.
    NanGradient { function: String, index: usize },
    /// A root without history.
    NoGrad { index: usize, reason: &'static str, stopped: Origin },
    /// More roots than gradients, or fewer.
    RootAndGradientCounts { roots: usize, gradients: usize },
    /// An input that does not require grad.
    InputNoGrad {},
    /// An input that is something else.
    InputNotTensor { got: String },
    /// A gradient asked for that the graph does not reach.
    Unused { index: usize },
    /// A root that is not a scalar and has no gradient given.
    ImplicitGradient {},
    /// A root that is not a floating-point scalar and has no gradient given.
    ImplicitGradientDType { dtype: DType },
    /// A rule that returned a gradient of the wrong shape.
    GradientShape { function: String, index: usize, got: Vec<usize>, expected: Vec<usize> },
    /// A rule that returned another number of gradients.
    GradientCount { function: String, expected: usize, got: usize },
    /// An operation that has no derivative.
    NoDerivative { operation: &'static str },
    /// `retain_grad` on a tensor without gradient.
    RetainGradNoGrad {},
    /// A hook on a tensor without gradient.
    HookNoGrad {},
    /// A write to memory that shows one element several times.
    OverlapModified {},
    /// A write to memory some of whose elements are read from other places of it.
    OverlapRead {},
    /// `detach_` on a view.
    DetachView {},
    /// `.data` of a tensor that requires grad assigned integers.
    DataDType {},
    /// `.grad` assigned a tensor of another type.
    GradDType { got: DType, expected: DType },
    /// A type of gradients that the present gradient does not have.
    GradDTypeTaken { wanted: DType, got: DType },
    /// `.grad` assigned a tensor of another shape.
    GradSize { got: Vec<usize>, expected: Vec<usize> },
    /// A dual tensor made of a tensor that has a tangent at that level.
    DualOfDual {},
    /// A tangent that itself has a tangent at that level.
    DualTangent {},
    /// A tangent of another shape than its tensor.
    TangentShape { got: Vec<usize>, expected: Vec<usize> },
    /// `item` of a tensor with another number of elements than one.
    ItemOfMany { numel: usize },
    /// A write of what differs between samples to a tensor that all samples share.
    UnbatchedWrite { operation: &'static str },
    /// The same by an operation that is run for each sample.
    UnbatchedFallback { operation: &'static str, level: usize },
    /// An operation on a batched tensor after the function was mapped.
    Escaped {},
    /// A random operation where the caller of a mapping did not say what it is to do.
    RandomRefused {},
    /// The same random numbers for samples that have a say in them and differ.
    RandomSame {},
    /// Different random numbers for each sample in a tensor that all samples share.
    RandomUnbatched {},
    /// A running mean that all samples share and each would move.
    MappedRunning {},
    /// A number of a tensor that stands for many samples.
    MappedItem {},
    /// A decision by a tensor that stands for many samples.
    MappedTruth {},
    /// A comparison of whole tensors that stand for many samples.
    MappedDecision { operation: &'static str },
    /// `allclose` of tensors that stand for many samples.
    MappedCloseness {},
    /// A result whose shape would differ between samples.
    MappedShape { operation: &'static str },
    /// An index by a mask that differs between samples.
    MappedMask {},
    /// `masked_select` by a mask that differs between samples.
    MappedSelect {},
    /// The memory of a tensor that stands for many samples.
    MappedMemory {},
    /// The truth value of many elements.
    AmbiguousTruth {},
    /// The truth value of no element.
    EmptyTruth {},
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind())?;
        for (name, value) in self.fields() {
            write!(f, " {name}={value:?}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Makes integer types fields: they all become `Value::Int`.
macro_rules! integer_fields {
    ($($T:ty),*) => {$(
        impl Field for $T {
            fn value(&self) -> Value {
                Value::Int(*self as i64)
            }
        }
    )*};
}
integer_fields!(i64, usize, u32, u64);

impl Field for f64 {
    fn value(&self) -> Value {
        Value::Float(*self)
    }
}

impl Field for bool {
    fn value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Field for &'static str {
    fn value(&self) -> Value {
        Value::Text((*self).to_owned())
    }
}

impl Field for String {
    fn value(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl Field for DType {
    fn value(&self) -> Value {
        Value::DType(*self)
    }
}

impl Field for Origin {
    fn value(&self) -> Value {
        Value::Origin(*self)
    }
}

impl Field for Scalar {
    fn value(&self) -> Value {
        match *self {
            Scalar::Bool(b) => Value::Bool(b),
            Scalar::Int(i) => Value::Int(i),
            Scalar::Float(f) => Value::Float(f),
        }
    }
}

impl Field for Vec<usize> {
    fn value(&self) -> Value {
        Value::Shape(self.iter().map(|&size| size as i64).collect())
    }
}

impl Field for Vec<i64> {
    fn value(&self) -> Value {
        Value::Shape(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_itself_and_its_fields() {
        let error = Error::NotBroadcastable { left: 2, right: 3, dim: 0 };
        assert_eq!(error.kind(), "NotBroadcastable");
        assert_eq!(error.fields()[1], ("right", Value::Int(3)));
        assert!(Error::KINDS.contains(&("NotBroadcastable", &["left", "right", "dim"])));
    }
}
