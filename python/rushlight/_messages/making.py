"""Failures of operations that make tensors: products, creation, random numbers.

One part of the table in `_messages`, written as the others are.
"""

from __future__ import annotations

MAKING: dict[str, tuple[type[Exception], str]] = {
    # -- matrices --------------------------------------------------------------------------------------
    "MatrixSizes": (
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied ({rows1}x{columns1} and {rows2}x{columns2})",
    ),
    "MatmulScalar": (
        RuntimeError,
        "both arguments to {operation} need to be at least 1D, but they are {ndim1}D and {ndim2}D",
    ),
    "MatrixDTypes": (
        RuntimeError,
        "expected m1 and m2 to have the same dtype, but got: {dtype1:C} != {dtype2:C}",
    ),
    "LinearDTypes": (
        RuntimeError,
        "mat1 and mat2 must have the same dtype, but got {dtype1:Float} and {dtype2:Float}",
    ),
    "AddmmDTypes": (
        RuntimeError,
        "self and mat2 must have the same dtype, but got {dtype1:Float} and {dtype2:Float}",
    ),
    "BatchDTypes": (
        RuntimeError,
        "Input dtypes must be the same, got: input {dtype:C}, batch1: {dtype1:C}, batch2: {dtype2:C}",
    ),
    "NotMatrix": (RuntimeError, "{argument} must be a matrix"),
    "MatrixRank": (RuntimeError, "{argument} must be a matrix, got {ndim}-D tensor"),
    "ProductInPlace": (
        RuntimeError,
        "Bad in-place call: input tensor size {input} and output tensor size {output} should match",
    ),
    "BatchSizes": (
        RuntimeError,
        "Expected size for first two dimensions of batch2 tensor to be: [{batch1}, {columns1}] but got: "
        "[{batch2}, {rows2}].",
    ),
    "NotBatch": (RuntimeError, "{argument} must be a 3D tensor"),
    "ScalarTypeExpected": (RuntimeError, "expected scalar type {expected:Float} but found {got:Float}"),
    "MatrixVectorSizes": (
        RuntimeError,
        "size mismatch, got input ({size}), mat ({rows}x{columns}), vec ({length})",
    ),
    "MatrixVectorDimensions": (
        RuntimeError,
        "vector + matrix @ vector expected, got {ndim}, {ndim1}, {ndim2}",
    ),
    "MatrixVectorDTypes": (
        RuntimeError,
        "addmv input tensors must have the same dtype, but got {dtype:Float}, {dtype1:Float}, and "
        "{dtype2:Float}",
    ),
    "DotSizes": (
        RuntimeError,
        "inconsistent tensor size, expected tensor [{length1}] and src [{length2}] to have the same "
        "number of elements, but got {length1} and {length2} elements respectively",
    ),
    "DotDimensions": (RuntimeError, "1D tensors expected, but got {ndim1}D and {ndim2}D tensors"),
    "DotDTypes": (
        RuntimeError,
        "dot : expected both vectors to have same dtype, but found {dtype1:Float} and {dtype2:Float}",
    ),
    "OuterDimensions": (RuntimeError, "outer: Expected 1-D argument {argument}, but got {ndim}-D"),
    "InnerSizes": (
        RuntimeError,
        "inner() the last dimension must match on both input tensors but got shapes {shape1} and {shape2}",
    ),
    "EinsumSizes": (
        RuntimeError,
        "einsum(): subscript {subscript} has size {size} for operand {operand} which does not broadcast with "
        "previously seen size {previous}",
    ),
    # -- creation --------------------------------------------------------------------------------------
    "RangeStep": (RuntimeError, "step must be nonzero"),
    "RangeStepTruncated": (ValueError, "step must be nonzero"),
    "RangeOverflow": (RuntimeError, "invalid size, possible overflow?"),
    "RangeBounds": (RuntimeError, "upper bound and lower bound inconsistent with step sign"),
    "RangeInfinite": (RuntimeError, "unsupported range: {start:g} -> {end:g}"),
    "StepsNegative": (RuntimeError, "number of steps must be non-negative"),
    "EyeNegative": (RuntimeError, "{argument} must be greater or equal to 0, got {size}"),
    "NegativeDimension": (RuntimeError, "Trying to create tensor with negative dimension {dim}: {shape}"),
    "ZerosNegative": (RuntimeError, "zeros: Dimension size must be non-negative."),
    "TooManyElements": (RuntimeError, "Storage size calculation overflowed with sizes={shape}"),
    "OutOfMemory": (
        RuntimeError,
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you "
        "tried to allocate {bytes} bytes. Error code 12 (Cannot allocate memory)",
    ),
    "ValueOverflow": (RuntimeError, "value cannot be converted to type {name} without overflow"),
    "IntegerTooBig": (ValueError, "Overflow when unpacking long long"),
    "SequenceLength": (ValueError, "expected sequence of length {expected} at dim {dim} (got {got})"),
    "SequenceDepth": (ValueError, "too many dimensions '{got}'"),
    "ElementType": (TypeError, "new(): invalid data type '{got}'"),
    "DTypeUnknown": (RuntimeError, "Could not infer dtype of {got}"),
    "TensorCopied": (
        UserWarning,
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
    ),
    "ArrayExpected": (TypeError, "expected np.ndarray (got {got})"),
    "ArrayStrides": (
        ValueError,
        "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
        "currently supported. (You can probably work around this by making a copy of your array  with "
        "array.copy().) ",
    ),
    # -- random numbers --------------------------------------------------------------------------------
    "NormalDeviation": (RuntimeError, "normal expects std >= 0.0, but found std {std:g}"),
    "UniformBounds": (
        RuntimeError,
        "uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}",
    ),
    "RandomBounds": (
        RuntimeError,
        "random_ expects 'from' to be less than 'to', but got from={low} >= to={high}",
    ),
    "Probability": (
        RuntimeError,
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
        "improved?  If so, please report an enhancement request to PyTorch.)",
    ),
    "NormalDeviations": (RuntimeError, "normal expects all elements of std >= 0.0"),
    "UniformWidth": (
        RuntimeError,
        "uniform_ expects to-from <= std::numeric_limits<{dtype:Float}>::max(), but found to={high:g} and "
        "from={low:g} which result in to-from to exceed the limit",
    ),
    "RandomRange": (RuntimeError, "{argument} is out of bounds for {dtype:C}"),
    "DistributionParameter": (
        RuntimeError,
        "{operation} expects {argument} {range}, but {verb}{value:g}",
    ),
    "ExponentialDType": (
        RuntimeError,
        "Exponential distribution is a continuous probability distribution. dtype must be a floating point "
        "but you specified {dtype:Float}",
    ),
    "PermutationLength": (RuntimeError, "n cannot be greater than 2^{power}+1 for {dtype:Float} type."),
    "ChoiceDimensions": (RuntimeError, "prob_dist must be 1 or 2 dim"),
    "ChoiceDType": (
        RuntimeError,
        "multinomial only supports floating-point dtypes for input, got: {dtype:Float}",
    ),
    "ChoiceCount": (RuntimeError, "cannot sample n_sample <= 0 samples"),
    "ChoiceExhausted": (
        RuntimeError,
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    ),
    "ChoiceWeights": (RuntimeError, "probability tensor contains either `inf`, `nan` or element < 0"),
    "ChoiceNegative": (
        RuntimeError,
        "invalid multinomial distribution (encountering probability entry < 0)",
    ),
    "ChoiceInfinite": (
        RuntimeError,
        "invalid multinomial distribution (encountering probability entry = infinity or NaN)",
    ),
    "ChoiceSum": (RuntimeError, "invalid multinomial distribution (sum of probabilities <= 0)"),
    "GeneratorStateSize": (
        RuntimeError,
        "Expected a CPUGeneratorImplState of size {expected} but found the input RNG state size to be {got}",
    ),
    "GeneratorState": (RuntimeError, "Invalid mt19937 state"),
    "GeneratorStateDType": (TypeError, "RNG state must be a torch.ByteTensor"),
}
