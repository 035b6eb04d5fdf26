"""Functions of each element of a sparse tensor that are zero of zero: they are functions of the values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._rushlight import Tensor
from ._forms import is_sparse
from ._functions import _called, _put, _refuse, elementwise, known
from ._making import Values, coalesce, made

__all__: list[str] = []

# Of zero they are zero.
_ELEMENTWISE = [
    "abs",
    "absolute",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "conj_physical",
    "deg2rad",
    "erf",
    "erfinv",
    "expm1",
    "floor",
    "frac",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "log1p",
    "nan_to_num",
    "rad2deg",
    "relu",
    "round",
    "sgn",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
    "fix",
]
elementwise.update(_ELEMENTWISE)


def _of_elements(name: str) -> Callable[..., Any]:
    function = getattr(native, name)

    def apply(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        kept = coalesce(tensor) if tensor.layout is layouts.sparse_coo else tensor
        return made(function(Values.apply(kept), *args, **kwargs), kept._pieces, tensor.shape)

    return apply


# By which name torch speaks of a function that has several.
_OTHER_NAMES = {
    "absolute": "abs",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctanh": "atanh",
    "fix": "trunc",
}


def _writing(name: str) -> Callable[..., Any]:
    function, name = known[name], _OTHER_NAMES.get(name, name)

    def write(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if tensor.layout is layouts.sparse_coo and not tensor._pieces.is_coalesced:
            raise RuntimeError(f"{name}_ requires coalesced input")
        if name == "abs" and tensor.is_complex():
            raise RuntimeError("In-place abs is not supported for complex tensors.")
        return _put(tensor, function(tensor.detach(), *args, **kwargs))

    return write


for _name in _ELEMENTWISE:
    known[_name] = _of_elements(_name)
    known[f"{_name}_"] = _writing(_name)
known["conj"] = known["conj_physical"]


@_called("pow", "__pow__")
def _power(tensor: Any, exponent: Any) -> Any:
    if (isinstance(exponent, Tensor) and exponent.dim()) or not is_sparse(tensor):
        raise NotImplementedError(
            "Could not run 'aten::pow.Tensor_Tensor' with arguments from the 'SparseCPU' backend."
        )
    if exponent == 0:
        raise RuntimeError(
            "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense"
        )
    return _of_elements("pow")(tensor, exponent)


@_called("relu")
def _relu(tensor: Any, inplace: bool = False) -> Any:
    return (known["relu_"] if inplace else _of_elements("relu"))(tensor)


@_called("angle")
def _angle(tensor: Any) -> Any:
    if tensor.layout is layouts.sparse_coo:
        _refuse("angle", tensor)
    return _of_elements("angle")(tensor)
