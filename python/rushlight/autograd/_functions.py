"""What is left of functions that were operations once."""

from __future__ import annotations

from math import prod

from .function import Function

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any

    from .._rushlight import Tensor

__all__ = ["Resize"]


class Resize(Function):
    """Another shape for the same elements. Use `Tensor.reshape`.

    >>> import rushlight as torch
    >>> from rushlight.autograd._functions import Resize
    >>> Resize.apply(torch.ones(2, 3), (3, 2)).shape
    torch.Size([3, 2])
    """

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, sizes: tuple[int, ...]) -> Tensor:
        count = prod(sizes)
        if count != tensor.numel():
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, sizes))} ({count} elements in total), but the given "
                f"tensor has a size of {'x'.join(map(str, tensor.shape))} ({tensor.numel()} elements). "
                "autograd's resize can only change the shape of a given tensor, while preserving the number "
                "of elements. "
            )
        ctx.sizes = tensor.shape
        return tensor.contiguous().view(sizes)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient.contiguous().view(ctx.sizes), None
