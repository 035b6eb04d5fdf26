"""What programs say has to be so, and numbers as torch's tracing has them: here they are only numbers."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._calls.showing import shown_to
from .._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_UNTOLD = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
    "enhancement request to PyTorch.)"
)
_SIZES = (
    "_check_is_size will be removed in a future PyTorch release along with guard_size_oblivious.     Use "
    "_check(i >= 0) instead."
)
_OF_TENSOR = (
    "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert "
    "that all elements are true."
)


def _check_with(error_type: type[Exception], cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise an error unless a condition holds."""
    if isinstance(cond, Tensor):
        raise TypeError(_OF_TENSOR)
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(_UNTOLD if message is None else str(message()))


def _check(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise a `RuntimeError` unless a condition holds.

    >>> import rushlight as torch
    >>> torch._check(1 < 2, lambda: "one is less than two")
    """
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise an `IndexError` unless a condition holds."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise a `ValueError` unless a condition holds."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise a `TypeError` unless a condition holds."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise a `NotImplementedError` unless a condition holds."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Callable[[], str] | None = None, *, max: int | None = None) -> None:
    """Raise a `RuntimeError` unless a number can be a size. It is deprecated: use `_check`."""
    warnings.warn(_SIZES, FutureWarning, stacklevel=2)
    _check(i >= 0 and (max is None or i <= max), message)


def _check_tensor_all_with(
    error_type: type[Exception], cond: Any, message: Callable[[], str] | None = None
) -> None:
    """Raise an error unless all elements are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not native.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all().item()), message)


def _check_tensor_all(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise a `RuntimeError` unless all elements are true."""
    _check_tensor_all_with(RuntimeError, cond, message)


@shown_to("condition")
def _assert(condition: Any, message: str) -> None:
    """Assert that a condition holds."""
    assert condition, message


def _is_all_true(self: Tensor) -> Tensor:
    """Tell whether all elements are true."""
    return self.all()


def _is_any_true(self: Tensor) -> Tensor:
    """Tell whether an element is true."""
    return self.any()


@shown_to("a")
def sym_int(a: float) -> int:
    """Return a number without its fraction.

    >>> import rushlight as torch
    >>> torch.sym_int(-2.5)
    -2
    """
    return math.ceil(a) if a < 0 else math.floor(a)


@shown_to("a")
def sym_float(a: Any) -> float:
    """Return a number as one with a fraction."""
    return float(a)


@shown_to("a b")
def sym_max(a: Any, b: Any) -> Any:
    """Return the greater number, with a fraction if one of both has."""
    return _of_both(max(a, b), a, b)


@shown_to("a b")
def sym_min(a: Any, b: Any) -> Any:
    """Return the lesser number, with a fraction if one of both has."""
    return _of_both(min(a, b), a, b)


def _of_both(found: Any, a: Any, b: Any) -> Any:
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


@shown_to("a")
def sym_not(a: Any) -> bool:
    """Return the other truth value."""
    return not a


@shown_to("b t f")
def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """Return `t` if `b` holds, and otherwise `f`."""
    return t if b else f


@shown_to("args")
def sym_sum(args: Iterable[Any]) -> Any:
    """Return the sum of numbers."""
    return sum(args)
