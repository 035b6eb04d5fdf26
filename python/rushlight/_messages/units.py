"""The words of failures of activations, blends and special functions."""

from __future__ import annotations

UNITS: dict[str, tuple[type[Exception], str]] = {
    "AddcdivIntegers": (
        RuntimeError,
        "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
        "perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented "
        "as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as "
        "(input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the "
        "latter implementation: (input + value * tensor1 / tensor2), for all dtypes.",
    ),
    "LerpDTypes": (RuntimeError, "expected dtype {expected:C} for `{argument}` but got dtype {got:C}"),
    "BoundsOrder": (ValueError, "min_val cannot be greater than max_val"),
    "CeluAlpha": (RuntimeError, "ZeroDivisionError: alpha cannot be 0 for CELU"),
    "SoftshrinkLambda": (
        RuntimeError,
        "lambda must be in range [0, 3.40282e+38] for input dtype {dtype:Float}, but found {value:g}",
    ),
    "PreluScalar": (RuntimeError, "Not allow zero-dim input tensor."),
    "PreluCount": (
        RuntimeError,
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = {weights} and "
        "channel size = {channels}.",
    ),
    "PreluDTypes": (RuntimeError, "prelu: Type promoting not supported. Got {left:Float} and {right:Float}"),
    "HalvedSize": (RuntimeError, "Halving dimension must be even, but dimension {dim} is size {size}"),
    "RreluBounds": (RuntimeError, "Lower bound should be less than or equal to the upper bound"),
    "GluScalar": (RuntimeError, "glu does not support 0-dimensional tensors"),
    "HardtanhBool": (RuntimeError, "Bool inputs not supported for hardtanh"),
    "HardtanhUnsigned": (RuntimeError, "cannot do hardtanh on an unsigned type with negative limits"),
    "DropoutProbability": (RuntimeError, "dropout probability has to be between 0 and 1, but got {value:g}"),
    "HeavisideDTypes": (
        RuntimeError,
        "heaviside is not yet implemented for tensors with different dtypes.",
    ),
    "PolygammaOrder": (RuntimeError, "polygamma(n, x) does not support negative n."),
    "GeluApproximation": (RuntimeError, "approximate argument must be either none or tanh."),
}
