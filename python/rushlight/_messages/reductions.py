"""The words of failures of operations that make one number of many: reductions and losses."""

from __future__ import annotations

_NO_IDENTITY = " because the operation does not have an identity"
_WEIGHTS = (
    "weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
    "shape: {shape}"
)

REDUCTIONS: dict[str, tuple[type[Exception], str]] = {
    # -- reductions ------------------------------------------------------------------------------------
    "FloatNeeded": (
        RuntimeError,
        "{operation}(): could not infer output dtype. Input dtype must be either a floating point or complex "
        "dtype. Got: {dtype:Float}",
    ),
    "FloatResultNeeded": (
        RuntimeError,
        "{operation}(): could not infer output dtype. Optional dtype must be either a floating point or "
        "complex dtype. Got: {dtype:Float}",
    ),
    "VarianceDType": (RuntimeError, "{operation} only support floating point and complex dtypes"),
    "DistanceDType": (
        RuntimeError,
        "norm(): input dtype should be either floating point or complex. Got {dtype:Float} instead.",
    ),
    "NormDType": (
        RuntimeError,
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {dtype:Float}",
    ),
    "NormResultDType": (
        RuntimeError,
        "linalg.vector_norm: dtype should be floating point or complex, but got {dtype:Float}",
    ),
    "NormNarrowing": (
        RuntimeError,
        "linalg.vector_norm: the dtype of the input ({from:Float}) should be convertible without narrowing "
        "to the specified dtype ({to:Float})",
    ),
    "NormEmpty": (
        RuntimeError,
        "linalg.vector_norm cannot compute the {order:g} norm on an empty tensor" + _NO_IDENTITY,
    ),
    "NormEmptyDimension": (
        RuntimeError,
        "linalg.vector_norm cannot compute the {order:g} norm on the dimension {dim}because this dimension "
        "is empty and the operation does not have an identity",
    ),
    "ReduceEmpty": (
        RuntimeError,
        "{operation}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
        "dim with the 'dim' argument.",
    ),
    "ArgumentReduceEmpty": (
        IndexError,
        "{operation}(): Expected reduction dim to be specified for input.numel() == 0.",
    ),
    "ReduceEmptyDimension": (
        IndexError,
        "{operation}(): Expected reduction dim {dim} to have non-zero size.",
    ),
    "ExtremesEmptyDimension": (IndexError, "aminmax: Expected reduction dim {dim} to have non-zero size."),
    "BoolInput": (RuntimeError, "{operation}(): does not support bool input"),
    # -- losses ----------------------------------------------------------------------------------------
    "ArgumentGradient": (
        RuntimeError,
        "The function '{operation}' is not differentiable with respect to argument '{argument}'. This input "
        "cannot have requires_grad True.",
    ),
    "LossOfScalar": (ValueError, "Expected 1 or more dimensions (got 0)"),
    "TargetRange": (IndexError, "Target {target} is out of bounds."),
    "MarginTarget": (RuntimeError, "target out of range"),
    "MultilabelMarginTarget": (RuntimeError, "argument #2 'target' is out of range"),
    "TargetBatch": (ValueError, "Expected input batch_size ({input}) to match target batch_size ({target})."),
    "TargetDType": (RuntimeError, "expected target dtype to be Long or Byte, but got {dtype:Float}"),
    "TargetDimensions": (RuntimeError, "0D or 1D target tensor expected, multi-target not supported"),
    "SingleTarget": (ValueError, "For 1D input, 1D target must have size 1, but got target size: {size}"),
    "TargetSpatial": (
        RuntimeError,
        "only batches of spatial targets supported (3D tensors) but got targets of dimension: {ndim}",
    ),
    "TargetSizes": (RuntimeError, "size mismatch (got input: {input} , target: {target}"),
    "TargetShape": (RuntimeError, "Expected target size {expected}, got {got}"),
    "ClassWeights": (RuntimeError, _WEIGHTS),
    "ProbabilityWeights": (RuntimeError, "cross_entropy: " + _WEIGHTS),
    "ProbabilityDType": (
        RuntimeError,
        "Expected floating point type for target with class probabilities, got {dtype:Float}",
    ),
    "ProbabilityIgnored": (RuntimeError, "ignore_index is not supported for floating point target"),
    "ProbabilityRange": (RuntimeError, "all elements of {argument} should be between 0 and 1"),
    "LabelSmoothing": (RuntimeError, "label_smoothing must be between 0.0 and 1.0. Got: {value:g}"),
    "LossBound": (RuntimeError, "{operation} does not support {sign} values for {argument}."),
    "DegreesOfFreedom": (
        UserWarning,
        "{operation}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction "
        "factor (input numel divided by output numel).",
    ),
}
