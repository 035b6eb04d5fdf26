"""The words of failures of orders, Einstein sums and other composites."""

from __future__ import annotations

COMPOSITES: dict[str, tuple[type[Exception], str]] = {
    "TopkCount": (RuntimeError, "selected index k out of range"),
    "TopkBool": (RuntimeError, "topk does not support bool dtypes on CPU"),
    "PickScalar": (IndexError, "{operation}(): Expected reduction dim -1 or 0 for scalar but got {dim}"),
    "PickEmpty": (IndexError, "{operation}(): Expected reduction dim {dim} to have non-zero size."),
    "KthvalueCount": (RuntimeError, "kthvalue(): selected number k out of range for dimension {dim}"),
    "TakeAlongDType": (
        RuntimeError,
        "torch.take_along_dim(): dtype of indices should be Long but got {dtype:Float}",
    ),
    "TakeAlongRank": (
        RuntimeError,
        "torch.take_along_dim(): input and indices should have the same number of "
        "dimensions, but got {input} dimensions for input, and {indices} dimensions for indices",
    ),
    "NanmeanDType": (
        RuntimeError,
        "nanmean(): expected input to have floating point or complex dtype but got {dtype:Float}",
    ),
    "AminmaxEmpty": (
        RuntimeError,
        "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.",
    ),
    "QuantileShare": (RuntimeError, "quantile() q must be in the range [0, 1] but got {q:g}"),
    "QuantileShares": (RuntimeError, "quantile() q values must be in the range [0, 1]"),
    "QuantileRank": (RuntimeError, "quantile() q must be a scalar or 1D tensor"),
    "QuantileEmpty": (RuntimeError, "quantile() input tensor must be non-empty"),
    "QuantileDType": (RuntimeError, "quantile() input tensor must be either float or double dtype"),
    "QuantileDTypes": (RuntimeError, "quantile() q tensor must be same dtype as the input tensor"),
    "QuantileInterpolation": (
        RuntimeError,
        "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {name}",
    ),
    "FloatPowerDType": (
        RuntimeError,
        "the base given to float_power_ has dtype {dtype:Float} but the operation's result "
        "requires dtype {wide:Float}",
    ),
    "MvlgammaBool": (RuntimeError, "The input tensor may not be a boolean tensor."),
    "MvlgammaDimensions": (RuntimeError, "p has to be greater than or equal to 1"),
    "MvlgammaCast": (
        RuntimeError,
        "mvlgamma: result type {dtype:Float} can't be cast to the desired output type {to:Float}",
    ),
    "PhysicalRank": (
        RuntimeError,
        "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
        "{ndim} is not equal to len(physical_layout) = {count}",
    ),
    "PhysicalRange": (
        RuntimeError,
        "Dimension out of range (expected to be between 0 and {last}, but got {dim} at index {index}).  NB: "
        "negative dims not currently supported; file an issue if you want it.",
    ),
    "PhysicalTwice": (RuntimeError, "Duplicate dim not allowed"),
    "ResizeRecorded": (RuntimeError, "cannot resize variables that require grad"),
    "ResizeLent": (RuntimeError, "Trying to resize storage that is not resizable"),
    "ResizeNegative": (RuntimeError, "numel: integer multiplication overflow"),
    "PreluRank": (
        RuntimeError,
        "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {ndim}",
    ),
    "ResizeKept": (RuntimeError, "Unsupported memory formatPreserve"),
    "FormatRank": (RuntimeError, "required rank {ndim} tensor to use {format} format"),
    "TensordotDTypes": (RuntimeError, "both inputs should have same dtype"),
    "TensordotTwice": (RuntimeError, "dim {dim} appears multiple times in the list of dims"),
    "AmongDType": (RuntimeError, "Unsupported input type encountered for isin(): {dtype:Float}"),
    "CdistDType": (RuntimeError, "cdist only supports floating-point dtypes, {name} got: {dtype:Float}"),
    "CdistDTypes": (RuntimeError, "expected scalar type {first:Float} but found {second:Float}"),
    "CdistOrder": (RuntimeError, "cdist only supports non-negative p values"),
    "RenormBound": (RuntimeError, "renorm: expected maxnorm to be >= 0 but got {bound:g}"),
    "RenormRank": (RuntimeError, "renorm: input needs at least 2 dimensions, got {ndim} dimensions"),
    "ConvolutionSameRank": (
        RuntimeError,
        "Expected {ndim}-dimensional input for {ndim}-dimensional weight{weight}, but got "
        "{input:rank}-dimensional input of size {input} instead",
    ),
    "SplitRank": (
        RuntimeError,
        "torch.{operation} requires a tensor with at least {least} dimension, but got a tensor with {ndim} "
        "dimensions!",
    ),
    "SplitUneven": (
        RuntimeError,
        "torch.{operation} attempted to split along dimension {dim}, but the size of the dimension {size} "
        "is not "
        "divisible by the split_size {sections}!",
    ),
    "RepeatsRank": (RuntimeError, "repeat_interleave only accept 1D vector as repeat"),
    "RepeatsSize": (RuntimeError, "allocated size does not match required size"),
    "RepeatsOutput": (
        RuntimeError,
        "repeat_interleave: Invalid output_size, expected {expected} but got {got}",
    ),
    "UnflattenScalar": (
        RuntimeError,
        "unflatten got an unexpected error:\nDimension specified as {dim} but tensor has no dimensions",
    ),
    "UnflattenInferTwice": (
        RuntimeError,
        "unflatten got an unexpected error:\nonly one dimension can be inferred",
    ),
    "UnflattenAmbiguous": (
        RuntimeError,
        "unflatten got an unexpected error:\ncannot reshape tensor of 0 elements into shape {shape} because "
        "the unspecified dimension size -1 can be any value and is ambiguous",
    ),
    "BincountLeast": (RuntimeError, "minlength should be >= 0"),
    "BincountWeights": (RuntimeError, "weights should be 1-d and have the same length as input"),
    "TrapezoidBool": (
        RuntimeError,
        "{operation}: received a bool input for {arguments}, but bool is not supported",
    ),
    "TrapezoidStep": (RuntimeError, "{operation}: Currently, we only support dx as a real number."),
    "TrapezoidPlaces": (RuntimeError, "{operation}: There must be one `x` value for each sample point"),
    "SectionsRank": (
        RuntimeError,
        "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
        "tensor, but got a tensor with {ndim} dims",
    ),
    "SectionsDType": (
        RuntimeError,
        "tensor_split expected tensor_indices_or_sections to have dtype of long, but got {dtype:Float}",
    ),
    "NarrowStartTensor": (RuntimeError, "start must be an 0-dim integral Tensor."),
    "CrossNone": (RuntimeError, "no dimension of size 3 in input"),
    "ClampCast": (
        RuntimeError,
        "result type {from:Float} can't be cast to the desired output type {to:C}",
    ),
    "GatherOutput": (
        RuntimeError,
        "Expected out tensor to have dtype {expected:C}, but got {got:C} instead",
    ),
    "HeavisideComplex": (RuntimeError, "heaviside is not yet implemented for complex tensors."),
    "FrexpDType": (RuntimeError, "torch.frexp() only supports floating-point dtypes"),
    "SignbitComplex": (NotImplementedError, "signbit is not implemented for complex tensors."),
    "BooleanWeight": (RuntimeError, "Boolean {argument} only supported for Boolean results."),
    "IntegerWeight": (
        RuntimeError,
        "For integral input tensors, argument {argument} must not be a floating point number.",
    ),
    "TraceRank": (RuntimeError, "trace: expected a matrix, but got tensor with dim {ndim}"),
    "EinsumEllipsis": (RuntimeError, "einsum(): found '.' for {place} {what}"),
    "EinsumSubscript": (
        RuntimeError,
        "einsum(): invalid subscript given at index {index} in the equation string, "
        "subscripts must be in [a-zA-Z]",
    ),
    "EinsumRank": (
        RuntimeError,
        "einsum(): the number of subscripts in the equation ({subscripts}) {how} the "
        "number of dimensions ({ndim}) for operand {operand}{tail}",
    ),
    "EinsumRepeated": (
        RuntimeError,
        "einsum(): subscript {label} is repeated for operand {operand} but the sizes don't "
        "match, {size} != {expected}",
    ),
    "EinsumNone": (RuntimeError, "einsum(): must provide at least one operand"),
    "EinsumCount": (RuntimeError, "einsum(): {how} operands were provided than specified in the equation"),
    "EinsumCovered": (
        RuntimeError,
        "einsum(): dimension {dim} covered by ellipsis in operand {operand}has size {size} which does not "
        "broadcast with previously seen ellipsis with size {expected} for the respective dimension",
    ),
    "EinsumBroadcast": (
        RuntimeError,
        "einsum(): subscript {label} has size {size} for operand {operand} which does not "
        "broadcast with previously seen size {expected}",
    ),
    "EinsumOutputTwice": (
        RuntimeError,
        "einsum(): output subscript {label} appears more than once in the output",
    ),
    "EinsumOutputUnknown": (
        RuntimeError,
        "einsum(): output subscript {label} does not appear in the equation for any input operand",
    ),
    "TensordotCount": (RuntimeError, "both dimension lists should have same length"),
    "TensordotSizes": (
        RuntimeError,
        "contracted dimensions need to match, but first has size {size1} in dim {dim1} and "
        "second has size {size2} in dim {dim2}",
    ),
    "AddrRank": (RuntimeError, "addr: Expected 1-D argument {argument}, but got {ndim}-D"),
    "AddrInPlaceRank": (RuntimeError, "2D tensor expected, got {ndim}D tensor for input"),
    "AddrSizes": (
        RuntimeError,
        "size mismatch, input: [{rows}, {columns}], v1: [{length1}], v2: [{length2}]",
    ),
    "RotationCount": (RuntimeError, "expected total rotation dims == 2, but got dims = {count}"),
    "RotationRank": (RuntimeError, "expected total dims >= 2, but got total dims = {ndim}"),
    "RotationSame": (
        RuntimeError,
        "expected rotation dims to be different, but got dim0 = {first} and dim1 = {second}",
    ),
    "ScatterSlice": (
        RuntimeError,
        "expected src to have a size equal to the slice of self. src size = {source}, slice size = {slice}",
    ),
    "DiffRank": (RuntimeError, "diff expects prepend or append to be the same dimension as input"),
    "DiffShape": (
        RuntimeError,
        "diff expects the shape of tensor to prepend or append to match that of input except along the "
        "differencing dimension; input.size({dim}) = {expected}, but got tensor.size({dim}) = {got}",
    ),
    "DiffScalar": (RuntimeError, "diff expects input to be at least one-dimensional"),
    "DiffOrder": (RuntimeError, "order must be non-negative but got {order}"),
    "StatisticRank": (
        RuntimeError,
        "{operation}(): expected input to have two or fewer dimensions but got an input with {ndim} "
        "dimensions",
    ),
    "CovBool": (RuntimeError, "cov(): bool dtype is not supported for input"),
    "CovWeightsRank": (
        RuntimeError,
        "cov(): expected {weights} to have one or fewer dimensions but got {weights} with {ndim} dimensions",
    ),
    "CovWeightsDType": (
        RuntimeError,
        "cov(): expected {weights} to have {expected} dtype but got {weights} with {dtype:Float} dtype",
    ),
    "CovWeightsCount": (
        RuntimeError,
        "cov(): expected {weights} to have the same numel as there are observations in the input but got "
        "{count} != {observations}",
    ),
    "CovWeightsNegative": (RuntimeError, "cov(): {weights} cannot be negative"),
    "CovWeightsZero": (RuntimeError, "cov(): weights sum to zero, can't be normalized"),
    "CdistRank": (RuntimeError, "cdist only supports at least 2D tensors, {name} got: {ndim}D"),
    "CdistColumns": (
        RuntimeError,
        "X1 and X2 must have the same number of columns. X1: {first} X2: {second}",
    ),
    "RenormOrder": (RuntimeError, "renorm: non-positive-norm not supported"),
    "CrossRank": (RuntimeError, "linalg.cross: inputs must have the same number of dimensions."),
    "CrossSize": (
        RuntimeError,
        "linalg.cross: inputs dimension {dim} must have length 3. Got {left} and {right}",
    ),
    "BincountInput": (RuntimeError, "bincount only supports 1-d non-negative integral inputs."),
    "FlipRank": (RuntimeError, "Input must be >= {least}-d."),
    "CovarianceUndetermined": (
        UserWarning,
        "cov(): degrees of freedom is <= 0. Correction should be strictly less than "
        "the number of observations.",
    ),
    "CrossWithoutDim": (
        UserWarning,
        "Using torch.cross without specifying the dim arg is deprecated.\n"
        "Please either pass the dim explicitly or simply use torch.linalg.cross.\n"
        "The default value of dim will change to agree with that of linalg.cross in a future release.",
    ),
}
