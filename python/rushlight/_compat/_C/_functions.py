"""Functions that torch writes in its compiled module, and classes of nodes that programs name."""

from __future__ import annotations

from ..._rushlight import Tensor, ones
from ...autograd.function import Function
from ...autograd.graph import Node, get_gradient_edge

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]

AccumulateGrad: Any = type(get_gradient_edge(ones((), requires_grad=True)).node)


def _check_tensors(given: tuple[object, ...], count: int) -> None:
    if len(given) != count:
        raise TypeError(f"expected {count} arguments, got {len(given)} instead")
    for index, value in enumerate(given):
        if not isinstance(value, Tensor):
            raise TypeError(f"argument {index} is not a Variable")


class _Error(Function):
    @staticmethod
    def forward(ctx: Any, message: str, *tensors: Tensor) -> Any:
        ctx.message = message
        return tensors if len(tensors) > 1 else tensors[0]

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> NoReturn:
        raise RuntimeError(ctx.message)


class DelayedError:
    """Returns its tensors; who differentiates them gets an error of these words."""

    def __init__(self, *message_and_count: Any) -> None:
        if len(message_and_count) != 2:
            raise RuntimeError(f"Requires two arguments, got {len(message_and_count)}")
        self._message, self._count = message_and_count
        if not isinstance(self._message, (str, bytes)):
            raise RuntimeError("argument 'msg' must be a string")
        if isinstance(self._message, bytes):
            self._message = self._message.decode()

    def __call__(self, *tensors: Tensor) -> Any:
        """Return the tensors."""
        _check_tensors(tensors, self._count)
        return _Error.apply(self._message, *tensors)


class _UndefinedGrad(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        return tensor

    @staticmethod
    def backward(ctx: Any, _: Tensor) -> None:
        return None


class UndefinedGrad:
    """Returns its tensor; no gradient passes it."""

    def __call__(self, *tensors: Tensor) -> Any:
        """Return the tensor."""
        _check_tensors(tensors, 1)
        return _UndefinedGrad.apply(*tensors)


# torch calls the functions by their nodes.
Node.register(DelayedError)
Node.register(UndefinedGrad)

# Their nodes have the names of torch's.
_Error._backward_cls.__name__ = "Error"
_UndefinedGrad._backward_cls.__name__ = "UndefinedGradBackward"
