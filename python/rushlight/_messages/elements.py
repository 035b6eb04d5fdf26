"""The words of failures of types and values of elements."""

from __future__ import annotations

_BOOL_HINT = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."

ELEMENTS: dict[str, tuple[type[Exception], str]] = {
    # -- values ----------------------------------------------------------------------------------------
    "ItemOfMany": (RuntimeError, "a Tensor with {numel} elements cannot be converted to Scalar"),
    "AmbiguousTruth": (RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
    "EmptyTruth": (RuntimeError, "Boolean value of Tensor with no values is ambiguous"),
    # -- types -----------------------------------------------------------------------------------------
    "ResultCast": (
        RuntimeError,
        "result type {from:Float} can't be cast to the desired output type {to:Float}",
    ),
    "NotImplementedFor": (NotImplementedError, "\"{operation}\" not implemented for '{dtype:Float}'"),
    "SubtractBool": (
        RuntimeError,
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
        "`logical_xor()` operator instead.",
    ),
    "SubtractWithBool": (
        RuntimeError,
        "Subtraction, the `-` operator, with a bool tensor is not supported. " + _BOOL_HINT,
    ),
    "NegateBool": (
        RuntimeError,
        "Negation, the `-` operator, on a bool tensor is not supported. " + _BOOL_HINT,
    ),
    "PositiveBool": (RuntimeError, "The `+` operator, on a bool tensor is not supported."),
    "ReluBool": (RuntimeError, "Boolean inputs not supported for relu"),
    "AlphaBool": (RuntimeError, "Boolean alpha only supported for Boolean results."),
    "AlphaFloat": (
        RuntimeError,
        "For integral input tensors, argument alpha must not be a floating point number.",
    ),
    "NoPromotion": (
        RuntimeError,
        "Promotion for {types} is not supported, attempted to promote {left:Float} and {right:Float}",
    ),
    "DTypesDiffer": (RuntimeError, "{left:Float} did not match {right:Float}"),
    # -- arithmetic ------------------------------------------------------------------------------------
    "IntegerDivision": (RuntimeError, "ZeroDivisionError"),
    "IntegerPower": (RuntimeError, "Integers to negative integer powers are not allowed."),
    "RoundingMode": (
        RuntimeError,
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'",
    ),
    "NegativeTolerance": (
        RuntimeError,
        "{argument} must be greater than or equal to zero, but got {value:g}",
    ),
    "ClampBounds": (RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None"),
    # -- masks and filling -----------------------------------------------------------------------------
    "WhereCondition": (
        RuntimeError,
        "where expected condition to be a boolean tensor, but got a tensor with dtype {dtype:Float}",
    ),
    "MaskedFillMask": (
        RuntimeError,
        "masked_fill_ only supports boolean masks, but got mask with dtype {dtype:C}",
    ),
    "MaskedFillValue": (
        RuntimeError,
        "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {ndim} dimension(s).",
    ),
    "FillValue": (
        RuntimeError,
        "fill_ only supports 0-dimension value tensor but got tensor with {ndim} dimensions.",
    ),
}
