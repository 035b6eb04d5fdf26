"""The words of failures of operations that make tensors: ranges, sizes, random numbers."""

from __future__ import annotations

MAKING: dict[str, tuple[type[Exception], str]] = {
    # -- creation --------------------------------------------------------------------------------------
    "DefaultDType": (TypeError, "only floating-point types are supported as the default type"),
    "RangeStep": (RuntimeError, "step must be nonzero"),
    "RangeStepTruncated": (ValueError, "step must be nonzero"),
    "RangeOverflow": (RuntimeError, "invalid size, possible overflow?"),
    "RangeBounds": (RuntimeError, "upper bound and lower bound inconsistent with step sign"),
    "RangeInfinite": (RuntimeError, "unsupported range: {start:g} -> {end:g}"),
    "StepsNegative": (RuntimeError, "number of steps must be non-negative"),
    "EyeNegative": (RuntimeError, "{argument} must be greater or equal to 0, got {size}"),
    "ZerosNegative": (RuntimeError, "zeros: Dimension size must be non-negative."),
    "OutOfMemory": (
        RuntimeError,
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you "
        "tried to allocate {bytes} bytes. Error code 12 (Cannot allocate memory)",
    ),
    "PrintedDimensions": (RecursionError, "maximum recursion depth exceeded"),
    "ValueOverflow": (RuntimeError, "value cannot be converted to type {name} without overflow"),
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
    "PoissonRate": (RuntimeError, "invalid Poisson rate, expected rate to be non-negative"),
    "BinomialDType": (
        ValueError,
        "binomial only supports floating-point dtypes for {argument}, got: {dtype:Float}",
    ),
    "BinomialDTypes": (RuntimeError, "Found dtype {found:Float} but expected {expected:Float}"),
    "Probability": (
        RuntimeError,
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
        "improved?  If so, please report an enhancement request to PyTorch.)",
    ),
    "NormalDeviationsComplex": (RuntimeError, "normal expects standard deviation to be non-complex"),
    "NormalDeviations": (RuntimeError, "normal expects all elements of std >= 0.0"),
    "UniformWidth": (
        RuntimeError,
        "uniform_ expects to-from <= std::numeric_limits<{dtype:Float}>::max(), but found to={high:g} and "
        "from={low:g} which result in to-from to exceed the limit",
    ),
    "RandomRange": (RuntimeError, "{argument} is out of bounds for {dtype:C}"),
    "RandomPrecision": (
        UserWarning,
        "{argument} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations {dtype:C} can "
        "support discrete uniform distribution only within this range. This warning will become an error in "
        "version 1.7 release, please fix the code in advance",
    ),
    "DistributionParameter": (
        RuntimeError,
        "{operation} expects {argument} {range}, but {verb}{value:g}",
    ),
    "ExponentialDType": (
        RuntimeError,
        "Exponential distribution is a continuous probability distribution. dtype must be a floating point "
        "but you specified {dtype:Float}",
    ),
    "PermutationLength": (RuntimeError, "n cannot be greater than {most} for {dtype:Float} type."),
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
    # -- what there is none of -------------------------------------------------------------------------
    "NoCuda": (AssertionError, "Torch not compiled with CUDA enabled"),
    "EmptyKept": (RuntimeError, "unsupported memory format Preserve"),
    "RangeNarrowing": (
        RuntimeError,
        "{operation}(): inferred dtype {inferred:C} can't be safely cast to passed dtype {dtype:Float}",
    ),
    "RangeEnds": (
        RuntimeError,
        "{operation} only supports 0-dimensional start and end tensors, but got {got}.",
    ),
}
