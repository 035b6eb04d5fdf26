//! Failures of shapes and views: see Note [Families of failures].

macro_rules! shapes {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    /// Two sizes that neither agree nor broadcast.
    NotBroadcastable { left: usize, right: usize, dim: usize },
    /// A dimension outside of the tensor's.
    DimOutOfRange { dim: i64, low: i64, high: i64 },
    /// A dimension asked of a tensor that has none.
    DimOfScalar { dim: i64 },
    /// The same dimension named twice.
    DimRepeated { dim: usize },
    /// Some dimensions named of more than can be told apart.
    TooManyToName {},
    /// A negative size.
    NegativeDimension { dim: i64, shape: Vec<i64> },
    /// More elements than memory can be addressed for.
    TooManyElements { shape: Vec<i64> },
    /// A view of more elements than can be counted.
    CountOverflow {},
    /// Strides that lead further than places can be counted.
    ExtentOverflow { shape: Vec<i64>, strides: Vec<i64> },
    /// Sizes below zero, which make no number of elements.
    TooManyNegative {},
    /// `view` to another type of a tensor whose last dimension does not divide.
    ViewDTypeSize { from: DType, to: DType, ratio: usize, size: usize },
    /// `view` to a wider type from an element that such a type cannot start at.
    ViewDTypeOffset { from: DType, to: DType, ratio: usize, offset: usize },
    /// Memory of the host read as elements of which none can lie where it begins.
    MemoryMisaligned { dtype: DType },
    /// Memory read as more elements than there are in it.
    MemoryTooSmall { needed: usize, bytes: usize },
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
    TransposeDimensions { operation: &'static str, ndim: usize },
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
    /// `repeat_interleave` with a matrix of numbers.
    TimesRank {},
    /// `repeat_interleave` with numbers for more or fewer elements.
    RepeatsCount { repeats: usize, dim: usize, size: usize },
    /// Nothing to turn by.
    RollNothing {},
    /// A turn of a dimension of a tensor without any.
    RollScalar { dim: i64 },
    /// `roll` with more or fewer shifts than dimensions.
    RollCount { shifts: usize, ndim: usize },
    /// A triangle of less than a matrix.
    TriangleDimensions { operation: &'static str },
    /// `diag` of neither vector nor matrix.
    DiagDimensions { ndim: usize },
    /// `as_strided` with as many strides as sizes not given.
    StridedRank {},
    /// Memory for as many strides as sizes not given.
    StridedCounts { sizes: usize, strides: usize },
    /// Memory that would have to be longer than can be counted.
    StridedOverflow { shape: Vec<i64>, strides: Vec<i64> },
    /// A negative stride.
    StridedNegative { stride: i64, strides: Vec<i64> },
    /// A negative offset.
    StridedOffset { offset: i64 },
    /// A window beyond the end of the storage.
    StridedBounds { shape: Vec<i64>, strides: Vec<i64>, offset: i64, item: usize, needed: i64, bytes: usize },
    /// A shape that one operation needs and another that it got.
    OutputShape { output: Vec<usize>, broadcast: Vec<usize> },
    }} };
}
pub(super) use shapes;
