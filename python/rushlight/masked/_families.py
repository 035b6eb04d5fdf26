"""Functions that tensors with masks know, by families, under the names that torch has for these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor
from ._tensor import MaskedTensor, is_masked_tensor

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []


def _words(text: str) -> list[str]:
    return text.split()


UNARY_NAMES = _words(
    "abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh "
    "arctanh bitwise_not ceil clamp clip conj_physical cos cosh deg2rad digamma erf erfc erfinv exp "
    "exp2 expm1 fix floor frac lgamma log log10 log1p log2 logit i0 isnan nan_to_num neg negative "
    "positive pow rad2deg reciprocal round rsqrt sigmoid sign sgn signbit sin sinc sinh sqrt square "
    "tan tanh trunc"
)
UNARY_NAMES_UNSUPPORTED = _words(
    "atan2 arctan2 bitwise_left_shift bitwise_right_shift copysign float_power fmod frexp gradient "
    "imag ldexp lerp logical_not hypot igamma igammac mvlgamma nextafter polygamma real remainder "
    "true_divide xlogy"
)
BINARY_NAMES = _words(
    "add atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift div "
    "divide floor_divide fmod logaddexp logaddexp2 mul multiply nextafter remainder sub subtract "
    "true_divide eq ne le ge greater greater_equal gt less_equal lt less maximum minimum fmax fmin "
    "not_equal"
)
REDUCE_NAMES = _words("sum mean amin amax argmin argmax prod all norm var std")
PASSTHROUGH_NAMES = ["select", "transpose", "split"]


def _written(names: list[str]) -> list[str]:
    """Return the names of the functions that write to their first argument."""
    return [f"{name}_" for name in names if hasattr(Tensor, f"{name}_")]


def _functions(names: list[str]) -> list[Callable[..., Any]]:
    return [getattr(native, name) for name in names if hasattr(native, name)]


def _methods(names: list[str]) -> list[Callable[..., Any]]:
    return [getattr(Tensor, name) for name in names]


INPLACE_UNARY_NAMES, INPLACE_BINARY_NAMES = _written(UNARY_NAMES), _written(BINARY_NAMES)
NATIVE_UNARY_FNS, NATIVE_INPLACE_UNARY_FNS = _functions(UNARY_NAMES), _methods(INPLACE_UNARY_NAMES)
NATIVE_BINARY_FNS, NATIVE_INPLACE_BINARY_FNS = _functions(BINARY_NAMES), _methods(INPLACE_BINARY_NAMES)
NATIVE_REDUCE_FNS = TORCH_REDUCE_FNS = _functions(REDUCE_NAMES)
TENSOR_REDUCE_FNS = _methods(REDUCE_NAMES)
PASSTHROUGH_FNS = _functions(PASSTHROUGH_NAMES)


def _tensors_match(a: Any, b: Any, exact: bool = True, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Tell whether two tensors, sparse or not, have the same layout and elements, or nearly so."""
    if is_masked_tensor(a) or is_masked_tensor(b):
        raise ValueError("Neither `a` nor `b` can be a MaskedTensor.")
    if a.layout is not b.layout:
        raise ValueError(f"`a` and `b` must have the same layout. Got {a.layout} and {b.layout}")
    if a.dtype is not b.dtype:
        b = b.type(a.dtype)
    one, two = a.to_dense(), b.to_dense()
    if exact:
        return one.dim() == two.dim() and bool((one == two).all())
    return one.dim() == two.dim() and native.allclose(one, two, rtol, atol)


def _masks_match(a: Any, b: Any) -> bool:
    """Tell whether two tensors have the same mask, as far as both have one."""
    if is_masked_tensor(a) and is_masked_tensor(b):
        return _tensors_match(a.get_mask(), b.get_mask(), exact=True)
    return True


def _get_data(a: Any) -> Any:
    """Return the elements of a tensor with a mask; other things are themselves."""
    return a.get_data() if isinstance(a, MaskedTensor) else a


def _maybe_get_mask(a: Any) -> Any:
    """Return the mask of a tensor, if it has one."""
    return a.get_mask() if isinstance(a, MaskedTensor) else None
