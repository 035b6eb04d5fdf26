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
    queue_callback = staticmethod(_queue_callback)
    is_checkpoint_valid = staticmethod(_is_checkpoint_valid)

    @staticmethod
    def run_backward(
        tensors: Any,
        grad_tensors: Any,
        keep_graph: bool,
        create_graph: bool,
        inputs: Any = (),
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> tuple[Any, ...] | None:
        """Run backward from `tensors`, which have their gradients with them; with `inputs`, return theirs."""
        for name, given in (("tensors", tensors), ("grad_tensors", grad_tensors)):
            if not isinstance(given, tuple):
                raise RuntimeError(
                    f"{name} argument is expected to be a tuple, but got {type(given).__name__}"
                )
        if not isinstance(inputs, tuple):
            raise RuntimeError("inputs to run_backward must be a tuple")
        if len(tensors) != len(grad_tensors):
            raise RuntimeError(f"got {len(tensors)} tensors and {len(grad_tensors)} gradients")
        for index, (tensor, gradient) in enumerate(zip(tensors, grad_tensors, strict=True)):
            if not isinstance(tensor, (Tensor, tuple)):
                raise RuntimeError(f"element {index} of tensors tuple is neither a Tensor nor a GradientEdge")
            if gradient is None and getattr(tensor, "requires_grad", False):
                raise RuntimeError(
                    f"element {index} of gradients tuple is None, but the corresponding Tensor requires grad"
                )
            if not (gradient is None or isinstance(gradient, Tensor)):
                raise RuntimeError(f"element {index} of gradients tuple is not a Tensor or None")
        for given in inputs:
            if not isinstance(given, (Tensor, tuple)):
                raise RuntimeError(
                    f"all inputs have to be Tensors or GradientEdges, but got {type(given).__name__}"
                )
        found = _run_backward(
            tensors, grad_tensors, keep_graph, create_graph, inputs, allow_unreachable, accumulate_grad
        )
        return None if accumulate_grad or not inputs else found


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
