"""One operation on each tensor of a list: `_foreach_add` and its like, as optimisers are written with them.

Each has a form in place, `_foreach_add_`, if tensors have. What is computed, recorded and refused is what the
operation on a single tensor does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor
from .._tensors.typename import scalar_name
from ..linalg import vector_norm

if TYPE_CHECKING:
    from collections.abc import Callable

_UNARY = """
abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal
round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc
"""
_BINARY = """
add clamp_max clamp_min div mul pow sub
"""


def _expect_tensors(name: str, tensors: Any, argument: str = "self", position: int = 0) -> None:
    if not isinstance(tensors, (list, tuple)):
        found = type(tensors).__name__
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position + 1}) must be tuple of Tensors, not {found}"
        )
    for number, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            found = type(tensor).__name__
            raise TypeError(f"expected Tensor as element {number} in argument {position}, but got {found}")


def _expect_some(tensors: Any, others: Any = ()) -> None:
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")
    if any(len(other) != len(tensors) for other in others):
        raise RuntimeError("Tensor list must have same number of elements as scalar list.")


def _expect_writable(tensors: Any) -> None:
    """Refuse leaves that require grad, before anything is said of numbers and sizes."""
    if native.is_grad_enabled():
        for tensor in tensors:
            if tensor.requires_grad and tensor.is_leaf:
                raise RuntimeError(
                    "a leaf Variable that requires grad is being used in an in-place operation."
                )


def _for_each(name: str, count: int, given: Any, position: int = 1) -> list[Any]:
    """Return what is given for each of the tensors: a number or a scalar tensor for all, or a list."""
    if isinstance(given, Tensor):
        if given.dim() != 0:
            raise RuntimeError(
                f"scalar tensor expected to be 0 dim but it has {given.dim()} dimensions and "
                f"{given.numel()} elements."
            )
        return [given] * count
    if not isinstance(given, (list, tuple)):
        return [given] * count
    if given and isinstance(given[0], Tensor):
        _expect_tensors(name, given, "other", position)
        if len(given) != count:
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {count} and {len(given)}"
            )
    return list(given)


def _public(function: Callable[..., Any], name: str, text: str) -> None:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    globals()[name] = function


def _pair(
    short: str, compute: Callable[..., Any], write: Callable[..., Any], columns: Callable[..., Any]
) -> None:
    """Define a function and its form in place. `columns` says what goes with each tensor."""
    name = f"_foreach_{short}"

    def made(self: Any, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        _expect_tensors(name, self)
        others, options = columns(name, len(self), *args, **kwargs)
        _expect_some(self, others)
        return tuple(compute(*each, **options) for each in zip(self, *others, strict=True))

    def written(self: Any, *args: Any, **kwargs: Any) -> Any:
        _expect_tensors(f"{name}_", self)
        others, options = columns(f"{name}_", len(self), *args, **kwargs)
        _expect_writable(self)
        _expect_some(self, others)
        for each in zip(self, *others, strict=True):
            write(*each, **options)
        return self

    _public(made, name, f"Return what `{short}` gives for each of the tensors.")
    _public(written, f"{name}_", f"Do `{short}` to each of the tensors in place.")


def _nothing(name: str, count: int) -> Any:
    return [], {}


def _other(name: str, count: int, other: Any, **options: Any) -> Any:
    return [_for_each(name, count, other)], options


def _factors(name: str, count: int, tensor1: Any, tensor2: Any, value: Any = 1, scalars: Any = None) -> Any:
    value = value if scalars is None else scalars
    if isinstance(value, Tensor):
        if value.dim() != 1:
            raise RuntimeError(
                f"Expected packed scalar Tensor to be of dimension 1. Got {value.dim()} instead."
            )
        value = value.tolist()
        if len(value) != count:
            raise RuntimeError(
                f"Expected length of scalars to match input of length {count} but got {len(value)} instead."
            )
    lists = [_for_each(name, count, one, position) for position, one in ((1, tensor1), (2, tensor2))]
    return [*lists, _for_each(name, count, value)], {}


def _weights(name: str, count: int, tensors1: Any, weight: Any) -> Any:
    return [_for_each(name, count, tensors1), _for_each(name, count, weight)], {}


def _with_value(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, tensor1, tensor2, value: method(self, tensor1, tensor2, value=value)


def _extreme(name: str, clamp: Callable[..., Any]) -> Callable[..., Any]:
    function = getattr(native, name)

    def compute(x: Tensor, other: Any) -> Any:
        if not isinstance(other, Tensor):
            return clamp(x, other)
        if x.is_complex():
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{scalar_name(x)}'")
        return function(x, other)

    return compute


def _assign(compute: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *others: x.copy_(compute(x, *others))


for _name in _UNARY.split():
    _pair(_name, getattr(Tensor, _name), getattr(Tensor, f"{_name}_"), _nothing)
for _name in _BINARY.split():
    _pair(_name, getattr(Tensor, _name), getattr(Tensor, f"{_name}_"), _other)
for _name, _clamp in (("maximum", Tensor.clamp_min), ("minimum", Tensor.clamp_max)):
    _compute = _extreme(_name, _clamp)
    _pair(_name, _compute, _assign(_compute), _other)
for _name in ("addcdiv", "addcmul"):
    _pair(_name, _with_value(getattr(Tensor, _name)), _with_value(getattr(Tensor, f"{_name}_")), _factors)
_pair("lerp", Tensor.lerp, Tensor.lerp_, _weights)

_power = globals()["_foreach_pow"]


def _foreach_pow(self: Any, exponent: Any) -> tuple[Tensor, ...]:
    """Return the powers of each of the tensors, or of one number with each of them as exponent."""
    if isinstance(self, (list, tuple)):
        powers: tuple[Tensor, ...] = _power(self, exponent)
        return powers
    _expect_tensors("_foreach_pow", exponent, "exponent", 1)
    _expect_some(exponent)
    return tuple(native.pow(self, one) for one in exponent)


def _foreach_norm(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    """Return the norm of each of the tensors.

    >>> import rushlight as torch
    >>> torch._foreach_norm([torch.tensor([3.0, 4.0]), torch.tensor([-2.0])])
    (tensor(5.), tensor(2.))
    """
    _expect_tensors("_foreach_norm", self)
    _expect_some(self)
    if ord in (float("inf"), "inf") and any(x.numel() == 0 for x in self):
        raise RuntimeError(
            "_foreach_norm cannot compute the infinity norm on an empty tensor because the operation does "
            "not have an identity"
        )
    return tuple(vector_norm(x, ord, dtype=dtype) for x in self)


def _foreach_powsum(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    """Return the sum of the powers of what is in each of the tensors, without signs.

    >>> import rushlight as torch
    >>> torch._foreach_powsum([torch.tensor([-3.0, 2.0])], 3)
    (tensor(35.),)
    """
    _expect_tensors("_foreach_powsum", self)
    _expect_some(self)
    return tuple(x.abs().pow(ord).sum(dtype=dtype) for x in self)


def _foreach_mm(self: Any, mat2: Any) -> tuple[Tensor, ...]:
    """Multiply each matrix of a list with its partner."""
    _expect_tensors("_foreach_mm", self)
    _expect_tensors("_foreach_mm", mat2, "mat2", 1)
    if len(self) != len(mat2):
        raise RuntimeError("_foreach_mm: self and mat2 must have the same number of tensors")
    if not self:
        raise RuntimeError("_foreach_mm requires non-empty tensor lists")
    return tuple(native.mm(left, right) for left, right in zip(self, mat2, strict=True))


def _foreach_max(self: Any) -> tuple[Tensor, ...]:
    """Return the greatest element of each of the tensors."""
    _expect_tensors("_foreach_max", self)
    _expect_some(self)
    if any(x.numel() == 0 for x in self):
        raise RuntimeError(
            "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined."
        )
    return tuple(x.max() for x in self)


def _foreach_clone(self: Any, *, memory_format: Any = None) -> tuple[Tensor, ...]:
    """Return a copy of each of the tensors."""
    _expect_tensors("_foreach_clone", self)
    _expect_some(self)
    return tuple(x.clone() if memory_format is None else x.clone(memory_format=memory_format) for x in self)


def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Copy each tensor of a list to its partner."""
    _expect_tensors("_foreach_copy_", self)
    _expect_some(self)
    _expect_writable(self)
    for target, source in zip(self, _for_each("_foreach_copy_", len(self), src), strict=True):
        target.copy_(source)
    return self


def _foreach_zero_(self: Any) -> Any:
    """Write zeros to each of the tensors."""
    _expect_tensors("_foreach_zero_", self)
    _expect_some(self)
    for x in self:
        x.zero_()
    return self
