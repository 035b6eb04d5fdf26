"""The words of failures of indices, of parts and of joins."""

from __future__ import annotations

INDEXING: dict[str, tuple[type[Exception], str]] = {
    # -- joining and splitting -------------------------------------------------------------------------
    "HistogramInfinite": (RuntimeError, "torch.histc: range of [{low:g}, {high:g}] is not finite"),
    "HistogramBackwards": (RuntimeError, "torch.histc: max must be larger than min"),
    "CatSizes": (
        RuntimeError,
        "Sizes of tensors must match except in dimension {dim}. Expected size {expected} but got size "
        "{got} for tensor number {position} in the list.",
    ),
    "BlockDimensions": (
        RuntimeError,
        "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {position} has {ndim} "
        "dimensions",
    ),
    "CatDimensions": (RuntimeError, "Tensors must have same number of dimensions: got {first} and {got}"),
    "CatScalar": (RuntimeError, "zero-dimensional tensor (at position {position}) cannot be concatenated"),
    "CatEmpty": (ValueError, "torch.cat(): expected a non-empty list of Tensors"),
    "StackSizes": (
        RuntimeError,
        "stack expects each tensor to be equal size, but got {first} at entry 0 and {got} at entry "
        "{position}",
    ),
    "StackEmpty": (RuntimeError, "{operation} expects a non-empty TensorList"),
    "SplitSum": (
        RuntimeError,
        "split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension "
        "{dim}), but got split_sizes={sizes}",
    ),
    "SplitNegative": (RuntimeError, "split expects split_size be non-negative, but got split_size={size}"),
    "SplitScalar": (RuntimeError, "{operation} expects at least a 1-dimensional tensor"),
    "SplitZero": (
        RuntimeError,
        "split_size can only be 0 if dimension size is 0, but got dimension size of {size}",
    ),
    "SplitSizesNegative": (
        RuntimeError,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={sizes}",
    ),
    "TensorSplitScalar": (
        RuntimeError,
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
    ),
    "SectionCount": (RuntimeError, "number of sections must be larger than 0, got {sections}"),
    "MeshgridDimensions": (
        RuntimeError,
        "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got a tensor with {ndim} dimensions",
    ),
    "MeshgridIndexing": (
        RuntimeError,
        'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}',
    ),
    "MeshgridDTypes": (RuntimeError, "meshgrid expects all tensors to have the same dtype"),
    "ChunkCount": (RuntimeError, "chunk expects `chunks` to be greater than 0, got: {chunks}"),
    # -- indexing --------------------------------------------------------------------------------------
    "IndexCount": (IndexError, "too many indices for tensor of dimension {ndim}"),
    "IndexOfScalar": (
        IndexError,
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
        "convert a 0-dim tensor to a number",
    ),
    "IndexRange": (IndexError, "index {index} is out of bounds for dimension {dim} with size {size}"),
    "IndexOfEmpty": (IndexError, "index is out of bounds for dimension with size 0"),
    "GatherRange": (
        RuntimeError,
        "index {index} is out of bounds for dimension {dim} with size {size}",
    ),
    "SelectRange": (
        IndexError,
        "select(): index {index} out of range for tensor of size {shape} at dimension {dim}",
    ),
    "MaskShape": (
        IndexError,
        "The shape of the mask {mask} at index {mask_dim} does not match the shape of the indexed "
        "tensor {shape} at index {dim}",
    ),
    "SliceStep": (ValueError, "step must be greater than zero"),
    "IndexDType": (IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    "IndexShapes": (
        IndexError,
        "shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}",
    ),
    "IndexedValueShape": (
        RuntimeError,
        "shape mismatch: value tensor of shape {value} cannot be broadcast to indexing result of shape "
        "{result}",
    ),
    "IndexedValueDType": (
        RuntimeError,
        "Index put requires the source and destination dtypes match, got {destination:Float} for the "
        "destination and {source:Float} for the source.",
    ),
    "IndexDTypeOf": (RuntimeError, "{operation}(): Expected dtype {expected} for index"),
    "GatherDimensions": (
        RuntimeError,
        "Index tensor must have the same number of dimensions as {argument} tensor",
    ),
    "GatherShape": (
        RuntimeError,
        "Size does not match at dimension {at} expected index {index} to be no larger than self {shape} "
        "apart from dimension {dim}",
    ),
    "ScatterShape": (
        RuntimeError,
        "Expected index {index} to be no larger than self {shape} apart from dimension {dim}",
    ),
    "ScatterSource": (
        RuntimeError,
        "Expected index {index} to be no larger than self {shape} apart from dimension {dim} and to be no "
        "larger size than src {source}",
    ),
    "ScatterDType": (RuntimeError, "{operation}(): Expected self.dtype to be equal to src.dtype"),
    "IndexAddCount": (
        RuntimeError,
        "index_add_(): Number of indices ({indices}) should be equal to source.size(dim): ({size}), for dim: "
        "{dim}",
    ),
    "IndexVector": (IndexError, "{operation}(): Index is supposed to be a vector"),
    "IndexScalarCount": (
        RuntimeError,
        "index_select(): Index to scalar can have only 1 value, got {count} value(s)",
    ),
    "IndexSelectMatrix": (RuntimeError, "INDICES element is out of DATA bounds, id={index} axis_dim={size}"),
    "IndexAddShape": (
        RuntimeError,
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape "
        "= {shape} source.shape = {source}",
    ),
    "IndexAddDType": (
        RuntimeError,
        "index_add_(): Expected dtype int32/int64 for index but got: {dtype:Float}",
    ),
    "IndexAddVector": (
        IndexError,
        "index_add_(): Index is supposed to be a vector, but got dim: {ndim} with type: {dtype:Float} and "
        "size: {shape}",
    ),
    "IndexAddDim": (
        RuntimeError,
        "index_add_(): Indexing dim {dim} is out of bounds of the source tensor with dim {ndim}",
    ),
    "IndexAddDTypes": (
        RuntimeError,
        "index_add_(): self ({dtype1:Float}) and source ({dtype2:Float}) must have the same scalar type",
    ),
    "IndexCopyVector": (IndexError, "index_copy_(): Index should have dimension 1 or 0 (got {ndim})"),
    "IndexCopyScalar": (
        IndexError,
        "index_copy_(): When source is scalar, index should have one element (got {count})",
    ),
    "IndexCopyDimensions": (
        IndexError,
        "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
        "dimensionality ({source}), destination dimensionality ({destination})",
    ),
    "IndexCopyCount": (
        IndexError,
        "index_copy_(): Number of indices ({indices}) should be equal to source.size(dim) ({size})",
    ),
    "IndexCopyRange": (
        IndexError,
        "index_copy_(): index {index} is out of bounds for dimension {dim} with size {size}",
    ),
    "IndexCopyShape": (
        RuntimeError,
        "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
        "{destination} at dimension {dim} and source slice shape: {source} at dimension 0.",
    ),
    "IndexCopyDTypes": (
        RuntimeError,
        "index_copy_(): self and source expected to have the same dtype, but got (self) {dtype1:Float} and "
        "(source) {dtype2:Float}",
    ),
    "IndexFillDType": (IndexError, "index_fill_(): Expected dtype int64 for index."),
    "IndexFillVector": (RuntimeError, "Index has to be a vector/scalar"),
    "IndexFillValue": (
        RuntimeError,
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with {ndim} dimension(s).",
    ),
    "LongIndex": (RuntimeError, "{operation}(): Expected a long tensor for index, but got {dtype:Float}"),
    "TakeEmpty": (IndexError, "take(): tried to take from an empty tensor"),
    "PutEmpty": (IndexError, "put_(): Tried to put elements into an empty tensor"),
    "SelectMask": (RuntimeError, "masked_select: expected BoolTensor for mask"),
    "MaskedScatterMask": (
        RuntimeError,
        "masked_scatter_ only supports boolean masks, but got mask with dtype {dtype:Float}",
    ),
    "MaskedScatterCount": (RuntimeError, "Number of elements of source < number of ones in mask"),
    "MaskedScatterDTypes": (
        RuntimeError,
        "masked_scatter: expected self and source to have same dtypes but got{dtype1:Float} and "
        "{dtype2:Float}",
    ),
    "ReduceIndexRank": (
        IndexError,
        "index_reduce_(): Index is supposed to be a vector, but got dim: {ndim} with type: {dtype:Float} "
        "and size: {shape}",
    ),
    "ReduceIndexDType": (
        RuntimeError,
        "index_reduce_(): Expected dtype int32/int64 for index but got: {dtype:Float}",
    ),
    "ReduceDTypes": (
        RuntimeError,
        "index_reduce_(): self ({target:Float}) and source ({source:Float}) must have the same scalar type",
    ),
    "ReduceDim": (
        RuntimeError,
        "index_reduce_(): Indexing dim {dim} is out of bounds of the source tensor with dim {ndim}",
    ),
    "ReduceCount": (
        RuntimeError,
        "index_reduce_(): Number of indices ({count}) should be equal to source.size(dim): ({size}), for "
        "dim: {dim}",
    ),
    "ReduceShapes": (
        RuntimeError,
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
        "self.shape = {shape} source.shape = {source}",
    ),
    "PutCount": (
        IndexError,
        "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
        "{source}, index.numel() = {index}",
    ),
    "PutDTypes": (
        RuntimeError,
        "put_(): self and source expected to have the same dtype, but got self.dtype = {target:Float} and "
        "source.dtype = {source:Float}",
    ),
    "UniqueOfNothing": (
        RuntimeError,
        "Number of zero sized dimensions is more than one, so unique cannot be applied ",
    ),
    "UniqueEmptySlices": (
        RuntimeError,
        "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied",
    ),
    "BoundariesScalar": (
        RuntimeError,
        "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension",
    ),
    "BoundariesShape": (
        RuntimeError,
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
        "boundaries tensor and input value tensor must match, but we got boundaries tensor {boundaries} and "
        "input value tensor {values}",
    ),
    "IndexSelectRange": (IndexError, "index out of range in self"),
    "IndexSelectEmpty": (
        RuntimeError,
        "index_select(): self indexing axis dim should be positive",
    ),
    "TakeRange": (IndexError, "out of range: tried to access index {index} on a tensor of {numel} elements."),
    "NotOfScalar": (IndexError, "{operation}() cannot be applied to a 0-dim tensor."),
    "NarrowScalar": (RuntimeError, "narrow() cannot be applied to a 0-dim tensor."),
    "NarrowNegative": (RuntimeError, "narrow(): length must be non-negative."),
    "NarrowLength": (RuntimeError, "start ({start}) + length ({length}) exceeds dimension size ({size})."),
    "NarrowStart": (
        IndexError,
        "start out of range (expected to be in range of [{low}, {high}], but got {start})",
    ),
    "ScatterReduceOfTensor": (
        UserWarning,
        "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a "
        "future PyTorch release. Use torch.scatter_reduce instead for more reduction options.",
    ),
    "ScatterCombination": (RuntimeError, "reduce argument must be either add or multiply."),
    "IndexReduceBeta": (UserWarning, "index_reduce() is in beta and the API may change at any time."),
    "ScatterFold": (RuntimeError, "reduce argument must be either sum, prod, mean, amax or amin, got {name}"),
    "IndexFold": (
        RuntimeError,
        "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {name}.",
    ),
    "RepeatedWrite": (
        UserWarning,
        "Use of {method} on expanded tensors is deprecated. Please clone() the tensor before performing this "
        "operation. This also applies to advanced indexing e.g. {such}",
    ),
    "ByteCondition": (
        UserWarning,
        "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a "
        "future version of PyTorch. Use a boolean condition instead.",
    ),
}
