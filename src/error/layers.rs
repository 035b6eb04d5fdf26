//! Failures of the layers of neural networks: see Note [Families of failures].

macro_rules! layers {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
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
    /// A convolution of elements that are not apart.
    ConvolutionDilation { found: String },
    /// Pooling with negative padding.
    PoolPaddingNegative { padding: i64 },
    /// Pooling with more padding than half of a window.
    PoolPadding { padding: i64, kernel: i64, dilation: i64 },
    /// Pooling of less than a window.
    PoolTooSmall { channels: usize, input: String, output: String },
    /// A mean over no element.
    PoolDivisor {},
    /// Pooling into a negative number of windows.
    AdaptivePoolNegative { sizes: Vec<i64> },
    /// The same in three dimensions.
    AdaptivePoolNegative3 { depth: i64, height: i64, width: i64 },
    /// Pooling with another number of numbers than dimensions.
    PoolNumbers { operation: &'static str, argument: &'static str, words: &'static str },
    /// Pooling of neither a sample nor a batch.
    PoolInput { single: usize, batched: usize },
    /// Windows over bodies whose elements do not move on.
    PoolDilation3 { depth: i64, height: i64, width: i64 },
    /// Windows over images, padded by more than half of their elements.
    PoolPaddingHalf { padding: Vec<i64>, kernel: Vec<i64> },
    /// Samples without elements.
    PoolSamples { operation: &'static str, least: usize, most: usize, shape: Vec<usize> },
    /// Bodies without elements.
    PoolSamples3 { shape: Vec<usize> },
    /// Several numbers where lines take one.
    PoolLineNumber { argument: &'static str, kinds: &'static str, got: usize },
    /// A number of windows over lines that is not above zero.
    PoolLineSign { argument: &'static str, value: i64 },
    /// Lines with negative padding.
    PoolLineNegative { padding: i64 },
    /// Lines with more padding than half of a window.
    PoolLinePadding { padding: i64, kernel: i64 },
    /// Lines on which there is no window.
    PoolLineCount { count: i64 },
    /// What is neither lines nor samples of lines.
    PoolLines { ndim: usize, operation: &'static str },
    /// Adaptive pooling of neither a sample nor a batch.
    AdaptivePoolRank { operation: &'static str, single: usize, batched: usize, colon: &'static str, shape: Vec<usize> },
    /// Adaptive pooling of samples without elements.
    AdaptivePoolEmpty { operation: &'static str, shape: Vec<usize>, dim: usize },
    /// Several sizes for lines.
    AdaptivePoolLength { operation: &'static str, got: usize },
    /// Another number of sizes than dimensions.
    AdaptivePoolLengths { operation: &'static str, count: usize },
    /// The same where the greatest elements are found.
    AdaptivePoolInternal { operation: &'static str, count: usize },
    /// Padding that names one side of a dimension only.
    PadOdd {},
    /// Padding of more dimensions than there are.
    PadLong { length: usize, ndim: usize },
    /// A mirror that shows more than there is.
    PadReflection { argument: usize, padding: Vec<i64>, dim: usize, shape: Vec<usize> },
    /// A word that says of no way of padding.
    PadMode { mode: String },
    /// Padding of nothing with itself; there are so many dimensions at least and at most.
    PadNothing { least: usize, most: usize, shape: Vec<usize> },
    /// Padding that leaves nothing.
    PadTooSmall { size: i64, output: i64, dim: usize },
    /// Resampling from nothing or to nothing.
    UpsampleSizes { input: Vec<i64>, output: Vec<i64> },
    /// Resampling of a line from nothing or to nothing.
    UpsampleLine { input: usize, output: i64 },
    /// Resampling of images without channels.
    UpsampleNothing { shape: Vec<usize>, ndim: usize },
    /// Targets of another element type.
    LikelihoodDType { expected: DType, got: DType },
    /// Sliding windows with a number of the wrong sign.
    FoldSign { what: &'static str, wanted: &'static str, name: &'static str, height: i64, width: i64 },
    /// An image that holds no window.
    FoldEmpty { size: Vec<i64>, kernel: Vec<i64>, dilation: Vec<i64>, padding: Vec<i64>, counts: Vec<i64> },
    /// Windows of what is no image.
    UnfoldRank { shape: Vec<usize> },
    /// Columns that are no matrix.
    FoldRank { shape: Vec<usize> },
    /// Means over windows of images without channels or elements.
    PoolNothing { shape: Vec<usize> },
    /// The same of bodies.
    PoolNothing3 { shape: Vec<usize> },
    /// Columns that are no windows.
    FoldChannels { got: usize, kernel: Vec<i64> },
    /// More or fewer columns than windows.
    FoldPlaces { size: Vec<i64>, kernel: Vec<i64>, dilation: Vec<i64>, padding: Vec<i64>, stride: Vec<i64>, rows: usize, columns: usize, places: usize, got: usize },
    /// Weights of another type than what is normalised.
    NormaliseDType {},
    /// Not half types, and parameters of another type than the input.
    NormaliseMixed {},
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
    /// Fewer dimensions than are to be normalised.
    NormalizedRank { least: usize, ndim: usize },
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
    /// A size with more added than there are numbers.
    PadOverflow { size: i64, before: i64, behind: i64, dim: usize },
    /// A convolution whose input would have more elements than there are numbers.
    ConvolutionPadding { padding: i64, dim: usize, most: i64 },
    /// Images made so many times larger that there is no number for it.
    PixelShuffleFactor { factor: i64 },
    /// Images made that many times larger or smaller.
    ShuffleFactor { operation: &'static str, argument: &'static str, factor: i64 },
    /// Channels that are no parts of images.
    PixelShuffleChannels { channels: i64, square: i64 },
    /// Images that do not fall into parts.
    PixelUnshuffleSize { dimension: &'static str, dim: i64, size: i64, factor: i64 },
    /// Channels in no groups, or fewer.
    ChannelShuffleCount { groups: i64 },
    /// Channels that do not fall into groups.
    ChannelShuffleGroups { groups: i64, channels: i64 },
    /// Windows along a dimension that is shorter.
    UnfoldSize { dim: i64, size: i64, step: usize },
    /// Windows of negative size.
    UnfoldNegative { size: i64 },
    /// Windows that do not move on.
    UnfoldStep { step: i64 },
    /// Sizes of an image that are neither one nor two.
    TwoNumbers { count: usize },
    /// A convolution that is padded on one side more than on the other: told once.
    UnevenPadding {},
    /// A word that is no way to pad.
    PaddingWord { word: String },
    }} };
}
pub(super) use layers;
