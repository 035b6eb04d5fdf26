"""The words of failures of shapes and views."""

from __future__ import annotations

_TO_VIEW = "to view {from:Float} as {to:Float} (different element sizes)"

SHAPES: dict[str, tuple[type[Exception], str]] = {
    "NotBroadcastable": (
        RuntimeError,
        "The size of tensor a ({left}) must match the size of tensor b ({right}) at non-singleton dimension "
        "{dim}",
    ),
    "OutputShape": (
        RuntimeError,
        "output with shape {output} doesn't match the broadcast shape {broadcast}",
    ),
    "ExpandSize": (
        RuntimeError,
        "The expanded size of the tensor ({wanted}) must match the existing size ({size}) at "
        "non-singleton dimension {dim}.  Target sizes: {target}.  Tensor sizes: {shape}",
    ),
    "TooManyNegative": (RuntimeError, "numel: integer multiplication overflow"),
    "ViewDTypeScalar": (RuntimeError, "self.dim() cannot be 0 " + _TO_VIEW),
    "ViewDTypeSize": (
        RuntimeError,
        "self.size(-1) must be divisible by {ratio} " + _TO_VIEW + ", but got {size}",
    ),
    "ViewDTypeOffset": (
        RuntimeError,
        "self.storage_offset() must be divisible by {ratio} " + _TO_VIEW + ", but got {offset}",
    ),
    "MemoryMisaligned": (
        RuntimeError,
        "this memory, which is not rushlight's own, does not begin where an element of {dtype} can lie; "
        "use clone() first",
    ),
    "MemoryTooSmall": (RuntimeError, "{needed} bytes are shown of memory that has {bytes}"),
    "ViewDTypeStride": (RuntimeError, "self.stride(-1) must be 1 " + _TO_VIEW + ", but got {stride}"),
    "ViewDTypeStep": (
        RuntimeError,
        "self.stride({dim}) must be divisible by {ratio} " + _TO_VIEW + ", but got {stride}",
    ),
    "ExpandLeading": (
        RuntimeError,
        "The expanded size of the tensor ({wanted}) isn't allowed in a leading, non-existing dimension {dim}",
    ),
    "ExpandRank": (
        RuntimeError,
        "expand({dtype:type}{{{shape}}}, size={expand}): the number of sizes provided ({wanted}) must be "
        "greater or equal to the number of dimensions in the tensor ({ndim})",
    ),
    "ViewSize": (RuntimeError, "shape '{shape}' is invalid for input of size {numel}"),
    "ViewInferTwice": (RuntimeError, "only one dimension can be inferred"),
    "ViewNegative": (RuntimeError, "invalid shape dimension {size} at index {index} of shape {shape}"),
    "ViewAmbiguous": (
        RuntimeError,
        "cannot reshape tensor of 0 elements into shape {shape} because the unspecified dimension size -1 "
        "can be any value and is ambiguous",
    ),
    "ViewStride": (
        RuntimeError,
        "view size is not compatible with input tensor's size and stride (at least one dimension spans "
        "across two contiguous subspaces). Use .reshape(...) instead.",
    ),
    "DimOutOfRange": (
        IndexError,
        "Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})",
    ),
    "DimOfScalar": (IndexError, "Dimension specified as {dim} but tensor has no dimensions"),
    "DimRepeated": (RuntimeError, "dim {dim} appears multiple times in the list of dims"),
    "TooManyToName": (RuntimeError, "only tensors with up to 64 dims are supported"),
    "PermuteCount": (
        RuntimeError,
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
        "desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {given}",
    ),
    "PermuteRepeated": (RuntimeError, "permute(): duplicate dims are not allowed."),
    "TransposeDimensions": (
        RuntimeError,
        "{operation}() expects a tensor with <= 2 dimensions, but self is {ndim}D",
    ),
    "MatrixTransposeDimensions": (
        RuntimeError,
        "tensor.{attribute} is only supported on matrices or batches of matrices. Got {ndim}-D tensor.",
    ),
    "FlattenOrder": (RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim"),
    "UnflattenSizes": (
        RuntimeError,
        "unflatten: Provided sizes {sizes} don't multiply up to the size of dim {dim} ({size}) in the "
        "input tensor",
    ),
    "UnflattenEmpty": (RuntimeError, "unflatten: sizes must be non-empty"),
    "MovedimCount": (
        RuntimeError,
        "movedim: Invalid source or destination dims: source ({source} dims) should contain the same number "
        "of dims as destination ({destination} dims)",
    ),
    "MovedimRepeated": (RuntimeError, "movedim: repeated dim in `{argument}` ({dims})"),
    "DiagonalDimensions": (RuntimeError, "diagonal dimensions cannot be identical {dim1}, {dim2}"),
    "DiagDimensions": (RuntimeError, "diag(): Supports 1D or 2D tensors. Got {ndim}D"),
    "RepeatsNegative": (RuntimeError, "Repeats must be non-negative"),
    "RepeatsBelowZero": (RuntimeError, "repeats can not be negative"),
    "TimesRank": (RuntimeError, "repeats must be 0-dim or 1-dim tensor"),
    "RepeatsCount": (
        RuntimeError,
        "repeats must have the same size as input along dim, but got repeats.size(0) = {repeats} and "
        "input.size({dim}) = {size}",
    ),
    "RepeatCount": (
        RuntimeError,
        "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
    ),
    "RollNothing": (RuntimeError, "`shifts` required"),
    "RollScalar": (IndexError, "Dimension specified as {dim} but tensor has no dimensions"),
    "RollCount": (RuntimeError, "shifts and dimensions must align. shifts: {shifts}, dims:{ndim}"),
    "TriangleDimensions": (RuntimeError, "{operation}: input tensor must have at least 2 dimensions"),
    "StridedRank": (RuntimeError, "mismatch in length of strides and shape"),
    "StridedCounts": (
        RuntimeError,
        "dimensionality of sizes ({sizes}) must match dimensionality of strides ({strides})",
    ),
    "StridedOverflow": (
        RuntimeError,
        "Storage size calculation overflowed with sizes={shape} and strides={strides}",
    ),
    "StridedNegative": (
        RuntimeError,
        "as_strided: Negative strides are not supported at the moment, got strides: {strides}",
    ),
    "StridedOffset": (RuntimeError, "Tensor: invalid storage offset {offset}"),
    "StridedBounds": (
        RuntimeError,
        "setStorage: sizes {shape}, strides {strides}, storage offset {offset}, and itemsize {item} "
        "requiring a storage size of {needed} are out of bounds for storage of size {bytes}",
    ),
    "NegativeDimension": (RuntimeError, "Trying to create tensor with negative dimension {dim}: {shape}"),
    "TooManyElements": (RuntimeError, "Storage size calculation overflowed with sizes={shape}"),
    "CountOverflow": (RuntimeError, "numel: integer multiplication overflow"),
    "ExtentOverflow": (
        RuntimeError,
        "Storage size calculation overflowed with sizes={shape} and strides={strides}",
    ),
}
