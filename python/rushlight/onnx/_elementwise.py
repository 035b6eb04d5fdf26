"""What operators on elements, and reductions of them, are in the ONNX format."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._translating import Translation

__all__ = ["FUNCTIONS"]

FUNCTIONS: dict[str, Callable[..., Any]] = {}


def writes(*names: str) -> Callable[[Any], Any]:
    """Register what writes operators of these names."""

    def register(function: Any) -> Any:
        FUNCTIONS.update(dict.fromkeys(names, function))
        return function

    return register


_SAME = {
    "abs": "Abs", "acos": "Acos", "asin": "Asin", "atan": "Atan", "ceil": "Ceil", "cos": "Cos",
    "cosh": "Cosh", "erf": "Erf", "exp": "Exp", "floor": "Floor", "isinf": "IsInf", "isnan": "IsNaN",
    "log": "Log", "logical_not": "Not", "bitwise_not": "Not", "neg": "Neg", "reciprocal": "Reciprocal",
    "relu": "Relu", "round": "Round", "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin", "sinh": "Sinh",
    "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh", "softplus": "Softplus", "mish": "Mish",
    "hardswish": "HardSwish",
}  # fmt: skip
_BINARY = {
    "mul": "Mul", "div": "Div", "pow": "Pow", "maximum": "Max", "minimum": "Min", "eq": "Equal",
    "gt": "Greater", "ge": "GreaterOrEqual", "lt": "Less", "le": "LessOrEqual", "logical_and": "And",
    "logical_or": "Or", "logical_xor": "Xor", "bitwise_and": "And", "bitwise_or": "Or",
}  # fmt: skip
_COPIES = "alias clone contiguous detach dropout lift_fresh positive"


def _same(operator: str) -> Any:
    return lambda t, x, *_, **__: t.add(operator, t.name(x))


def _binary(operator: str) -> Any:
    return lambda t, x, y, *_, **__: t.add(operator, *t.promoted(x, y))


FUNCTIONS.update({name: _same(operator) for name, operator in _SAME.items()})
FUNCTIONS.update({name: _binary(operator) for name, operator in _BINARY.items()})


@writes(*_COPIES.split())
def _copied(t: Translation, x: Any, *_: Any, **__: Any) -> str:
    return t.add("Identity", t.name(x))


@writes("add", "sub")
def _sum(t: Translation, x: Any, y: Any, *, alpha: float = 1, **_: Any) -> str:
    left, right = t.promoted(x, y)
    if alpha != 1:
        right = t.add("Mul", right, t.number(alpha, t.result_type()))
    return t.add("Sub" if t.operator == "sub" else "Add", left, right)


@writes("rsub")
def _difference(t: Translation, x: Any, y: Any, *, alpha: float = 1, **_: Any) -> str:
    left, right = t.promoted(x, y)
    if alpha != 1:
        left = t.add("Mul", left, t.number(alpha, t.result_type()))
    return t.add("Sub", right, left)


@writes("ne")
def _unequal(t: Translation, x: Any, y: Any) -> str:
    return t.add("Not", t.add("Equal", *t.promoted(x, y)))


@writes("rsqrt")
def _inverse_root(t: Translation, x: Any) -> str:
    return t.add("Reciprocal", t.add("Sqrt", t.name(x)))


@writes("square")
def _square(t: Translation, x: Any) -> str:
    return t.add("Mul", t.name(x), t.name(x))


@writes("log1p", "expm1")
def _beside_one(t: Translation, x: Any) -> str:
    one = t.number(1.0, x.meta["val"].dtype)
    if t.operator == "log1p":
        return t.add("Log", t.add("Add", t.name(x), one))
    return t.add("Sub", t.add("Exp", t.name(x)), one)


@writes("gelu")
def _gelu(t: Translation, x: Any, *, approximate: str = "none") -> str:
    name, dtype = t.name(x), x.meta["val"].dtype
    if approximate == "tanh":
        cube = t.add("Mul", name, t.add("Mul", name, name))
        inner = t.add("Add", name, t.add("Mul", cube, t.number(0.044715, dtype)))
        bent = t.add("Tanh", t.add("Mul", inner, t.number(math.sqrt(2 / math.pi), dtype)))
    else:
        bent = t.add("Erf", t.add("Mul", name, t.number(math.sqrt(0.5), dtype)))
    share = t.add("Mul", t.add("Add", bent, t.number(1.0, dtype)), t.number(0.5, dtype))
    return t.add("Mul", name, share)


@writes("silu")
def _silu(t: Translation, x: Any) -> str:
    return t.add("Mul", t.name(x), t.add("Sigmoid", t.name(x)))


@writes("glu")
def _gated(t: Translation, x: Any, dim: int = -1) -> str:
    value, gate = t.add_several("Split", t.name(x), outputs=2, axis=dim, num_outputs=2)
    return t.add("Mul", value, t.add("Sigmoid", gate))


@writes("hardsigmoid")
def _hard_sigmoid(t: Translation, x: Any) -> str:
    return t.add("HardSigmoid", t.name(x), alpha=1 / 6)


@writes("log_sigmoid_forward", "log_sigmoid")
def _log_sigmoid(t: Translation, x: Any) -> str:
    return t.add("Neg", t.add("Softplus", t.add("Neg", t.name(x))))


@writes("leaky_relu")
def _leaky(t: Translation, x: Any, slope: float = 0.01) -> str:
    return t.add("LeakyRelu", t.name(x), alpha=float(slope))


@writes("elu")
def _elu(t: Translation, x: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> str:
    dtype = x.meta["val"].dtype
    zero, name = t.number(0.0, dtype), t.name(x)
    below = t.add("Exp", t.add("Mul", t.add("Min", name, zero), t.number(float(input_scale), dtype)))
    bent = t.add("Mul", t.add("Sub", below, t.number(1.0, dtype)), t.number(float(alpha), dtype))
    return t.add("Mul", t.add("Add", t.add("Max", name, zero), bent), t.number(float(scale), dtype))


@writes("_prelu_kernel", "prelu")
def _prelu(t: Translation, x: Any, weight: Any) -> str:
    value, slope = x.meta["val"], weight.meta["val"]
    name = t.name(weight)
    if slope.ndim == 1 and value.ndim > 2:
        name = t.add("Reshape", name, t.ints([-1, *[1] * (value.ndim - 2)]))
    return t.add("PRelu", t.name(x), name)


@writes("clamp", "hardtanh", "clamp_min", "clamp_max")
def _clipped(t: Translation, x: Any, low: Any = None, high: Any = None, **named: Any) -> str:
    low, high = named.get("min", low), named.get("max", high)
    if t.operator == "hardtanh":
        low, high = (-1.0 if low is None else low), (1.0 if high is None else high)
    elif t.operator == "clamp_max":
        low, high = None, low
    dtype = x.meta["val"].dtype
    ends = [t.number(end, dtype) if end is not None else "" for end in (low, high)]
    return t.add("Clip", t.name(x), *ends)


@writes("where")
def _where(t: Translation, condition: Any, x: Any, y: Any) -> str:
    return t.add("Where", t.name(condition), *t.promoted(x, y))


@writes("masked_fill")
def _filled(t: Translation, x: Any, mask: Any, value: Any) -> str:
    filling = t.name(value) if hasattr(value, "meta") else t.number(value, x.meta["val"].dtype)
    return t.add("Where", t.name(mask), filling, t.name(x))


@writes("floor_divide")
def _floor_divided(t: Translation, x: Any, y: Any) -> str:
    quotient = t.add("Div", *t.promoted(x, y))
    return t.add("Floor", quotient) if t.result_type().is_floating_point else quotient


@writes("remainder", "fmod")
def _remainder(t: Translation, x: Any, y: Any) -> str:
    left, right = t.promoted(x, y)
    if t.operator == "remainder" and t.result_type().is_floating_point:
        return t.add("Sub", left, t.add("Mul", right, t.add("Floor", t.add("Div", left, right))))
    return t.add("Mod", left, right, fmod=int(t.operator == "fmod"))


@writes("addcmul")
def _multiplied(t: Translation, x: Any, y: Any, z: Any, *, value: float = 1) -> str:
    product = t.add("Mul", t.name(y), t.name(z))
    if value != 1:
        product = t.add("Mul", product, t.number(value, t.result_type()))
    return t.add("Add", t.name(x), product)


@writes("_to_copy", "to")
def _cast(t: Translation, x: Any, *_: Any, **__: Any) -> str:
    return t.cast(t.name(x), t.result_type())


_REDUCTIONS = {
    "sum": "ReduceSum", "mean": "ReduceMean", "amax": "ReduceMax", "amin": "ReduceMin", "prod": "ReduceProd",
    "logsumexp": "ReduceLogSumExp",
}  # fmt: skip


@writes(*_REDUCTIONS)
def _reduced(t: Translation, x: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> str:
    dims = [dim] if isinstance(dim, int) else list(dim or ())
    name = t.name(x)
    if x.meta["val"].dtype != t.result_type():
        name = t.cast(name, t.result_type())
    axes = (t.ints(dims),) if dims else ()
    return t.add(_REDUCTIONS[t.operator], name, *axes, keepdims=int(keepdim))


@writes("linalg_vector_norm")
def _norm(t: Translation, x: Any, order: Any = 2, dim: Any = None, keepdim: bool = False, **_: Any) -> str:
    if order not in (1, 2):
        raise t.unknown(f"of order {order}")
    axes = () if dim is None else (t.ints([dim] if isinstance(dim, int) else dim),)
    return t.add(f"ReduceL{int(order)}", t.name(x), *axes, keepdims=int(keepdim))


@writes("var")
def _variance(t: Translation, x: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> str:
    value: Tensor = x.meta["val"]
    dims = list(range(value.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    mean = t.add("ReduceMean", t.name(x), t.ints(dims), keepdims=1)
    away = t.add("Sub", t.name(x), mean)
    found = t.add("ReduceMean", t.add("Mul", away, away), t.ints(dims), keepdims=int(keepdim))
    count = math.prod(value.shape[one] for one in dims)
    correction = 1 if correction is None else correction
    factor = count / (count - correction)
    return found if correction == 0 else t.add("Mul", found, t.number(factor, value.dtype))


@writes("argmax", "argmin")
def _extreme(t: Translation, x: Any, dim: int | None = None, keepdim: bool = False) -> str:
    name = t.name(x)
    if dim is None:
        name, dim = t.add("Reshape", name, t.ints([-1])), 0
    return t.add("ArgMax" if t.operator == "argmax" else "ArgMin", name, axis=dim, keepdims=int(keepdim))


@writes("cumsum")
def _cumulated(t: Translation, x: Any, dim: int, **_: Any) -> str:
    return t.add("CumSum", t.name(x), t.number(dim, native.int64))
