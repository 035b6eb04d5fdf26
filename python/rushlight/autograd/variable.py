"""`Variable`: what tensors that require grad were called before all tensors could."""

from __future__ import annotations

from .._rushlight import Tensor, _is_checkpoint_valid, _queue_callback, _run_backward, empty

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["Variable", "variable"]


class _EngineBase:
    """What runs backward, as the object that torch has for it."""

    __slots__ = ()
    __module__ = "rushlight._C"
    run_backward = staticmethod(_run_backward)
    queue_callback = staticmethod(_queue_callback)
    is_checkpoint_valid = staticmethod(_is_checkpoint_valid)


class _VariableMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """An old name: every tensor is one, and making one of a tensor gives a tensor.

    >>> import rushlight as torch
    >>> torch.autograd.Variable(torch.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    _execution_engine = _EngineBase()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        """Return a tensor on the memory of `data`, without history."""
        if volatile:
            import warnings

            text = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."
            warnings.warn(text, stacklevel=2)
        if data is None:
            return empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return Tensor._make_subclass(Tensor, data, bool(requires_grad))


def variable(*args: Any, **kwargs: Any) -> NoReturn:
    """Fail: `torch.tensor` took the place of this."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


variable.Variable = Variable  # type: ignore[attr-defined]
