"""Functions of Python, called with every element of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _rushlight
from .._rushlight import Tensor
from ..autograd.grad_mode import no_grad


def apply_(self: Tensor, callable: Callable[..., Any]) -> Tensor:
    """Replace every element by what the function makes of it."""
    return _mapped("apply_", self, (), callable)


def map_(self: Tensor, other: Tensor, callable: Callable[..., Any]) -> Tensor:
    """Replace every element by what the function makes of it and another tensor's."""
    return _mapped("map_", self, (other,), callable)


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[..., Any]) -> Tensor:
    """Replace every element by what the function makes of it and two other tensors'."""
    return _mapped("map2_", self, (x, y), callable)


def _mapped(name: str, target: Tensor, others: tuple[Tensor, ...], function: Callable[..., Any]) -> Tensor:
    for other in others:
        if not isinstance(other, Tensor):
            got = type(other).__name__
            raise TypeError(f"{name}(): argument 'other' (position 1) must be Tensor, not {got}")
    if target.requires_grad or any(other.requires_grad for other in others):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
        )
    for other in others:
        if other.dtype != target.dtype:
            kinds = [str(x.type()) for x in (target, other)]
            raise TypeError(f"{name}: expected {kinds[0]} for 'other' (got {kinds[1]})")
    columns = [x.expand(target.shape).flatten().tolist() for x in (target, *others)]
    made = [function(*elements) for elements in zip(*columns, strict=True)]
    for element in made:
        _check_number(element, target)
    values = _rushlight.tensor(made).reshape(target.shape).to(target.dtype) if made else target
    with no_grad():
        return target.copy_(values)


def _check_number(element: Any, target: Tensor) -> None:
    """Refuse what is no number of a kind that can stand among the elements."""
    takes_complex = target.is_complex() or target.dtype is _rushlight.bool
    if hasattr(element, "__float__") or (isinstance(element, complex) and takes_complex):
        return
    kind = type(element).__name__
    if target.is_floating_point() or target.is_complex():
        raise TypeError(f"must be real number, not {kind}")
    raise TypeError(f"'{kind}' object cannot be interpreted as an integer")
