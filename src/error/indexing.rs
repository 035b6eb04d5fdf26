//! Failures of indices, of parts and of joins: see Note [Families of failures].

macro_rules! indexing {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
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
    /// Indices of slices to be combined that are no vector.
    ReduceIndexRank { ndim: usize, dtype: DType, shape: Vec<usize> },
    /// Indices of slices to be combined that are not integers.
    ReduceIndexDType { dtype: DType },
    /// Slices to be combined of another type.
    ReduceDTypes { target: DType, source: DType },
    /// Slices to be combined that have no such dimension.
    ReduceDim { dim: usize, ndim: usize },
    /// Another number of indices than of slices to be combined.
    ReduceCount { count: usize, size: usize, dim: usize },
    /// Slices to be combined of another shape.
    ReduceShapes { shape: Vec<usize>, source: Vec<usize> },
    /// Another number of elements to be put than of indices.
    PutCount { source: usize, index: usize },
    /// Elements to be put of another type.
    PutDTypes { target: DType, source: DType },
    /// Different slices of a dimension without any, in a tensor with more such dimensions.
    UniqueOfNothing {},
    /// Different slices that have no elements.
    UniqueEmptySlices {},
    /// Boundaries without dimensions.
    BoundariesScalar {},
    /// Boundaries whose leading dimensions differ from those of the values.
    BoundariesShape { boundaries: Vec<usize>, values: Vec<usize> },
    /// `index_select` of an element that is not there.
    IndexSelectRange {},
    /// Elements selected along a dimension that has none.
    IndexSelectEmpty {},
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
    /// `put` into nothing.
    PutEmpty {},
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
    /// A block of a matrix with too many dimensions.
    BlockDimensions { position: usize, ndim: usize },
    /// `cat` of tensors with different sizes in other dimensions.
    CatSizes { dim: usize, expected: usize, got: usize, position: usize },
    /// Counts between bounds of which one is not finite.
    HistogramInfinite { low: f64, high: f64 },
    /// Counts between a bound and a smaller one.
    HistogramBackwards {},
    /// A stack of nothing.
    StackEmpty { operation: &'static str },
    /// A stack of tensors with different shapes.
    StackSizes { first: Vec<usize>, got: Vec<usize>, position: usize },
    /// A grid of more than vectors.
    MeshgridDimensions { ndim: usize },
    /// A grid of vectors of different types.
    MeshgridDTypes {},
    /// An order of dimensions that no grid has.
    MeshgridIndexing { indexing: String },
    /// A scatter that combines tensors: told once.
    ScatterReduceOfTensor {},
    /// A scatter that combines in an unknown way.
    ScatterCombination {},
    /// `index_reduce`: told once.
    IndexReduceBeta {},
    /// A reduction that `scatter_reduce` does not have.
    ScatterFold { name: String },
    /// A reduction that `index_reduce` does not have.
    IndexFold { name: String },
    /// A write to a tensor that shows elements several times: told.
    RepeatedWrite { method: &'static str, such: &'static str },
    /// A condition of bytes: told once.
    ByteCondition {},
    }} };
}
pub(super) use indexing;
