"""Layers that undo pooling, and those that pool by other norms."""

from __future__ import annotations

from typing import Any

from ..._rushlight import Tensor
from .. import functional
from .._dimensions import spread
from ._shown import constructed_by_name
from .module import Module

__all__ = ["LPPool1d", "LPPool2d", "LPPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]


class _MaxUnpoolNd(Module):
    count: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = spread(kernel_size, self.count)
        self.stride = spread(kernel_size if stride is None else stride, self.count)
        self.padding = spread(padding, self.count)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Put elements back where they were."""
        undo = getattr(functional, f"max_unpool{self.count}d")
        found: Tensor = undo(input, indices, self.kernel_size, self.stride, self.padding, output_size)
        return found

    def extra_repr(self) -> str:
        """Show the windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


@constructed_by_name
class MaxUnpool1d(_MaxUnpoolNd):
    """Zeros with the elements where `MaxPool1d` found them.

    >>> import rushlight as torch
    >>> y, places = torch.nn.MaxPool1d(2, return_indices=True)(torch.tensor([[1.0, 3.0]]))
    >>> torch.nn.MaxUnpool1d(2)(y, places)
    tensor([[0., 3.]])
    """

    count = 1


@constructed_by_name
class MaxUnpool2d(_MaxUnpoolNd):
    """Zeros with the elements where `MaxPool2d` found them.

    >>> import rushlight as torch
    >>> pool = torch.nn.MaxPool2d(2, return_indices=True)
    >>> torch.nn.MaxUnpool2d(2)(*pool(torch.ones(1, 1, 4, 4))).shape
    torch.Size([1, 1, 4, 4])
    """

    count = 2


@constructed_by_name
class MaxUnpool3d(_MaxUnpoolNd):
    """Zeros with the elements where `MaxPool3d` found them.

    >>> import rushlight as torch
    >>> pool = torch.nn.MaxPool3d(2, return_indices=True)
    >>> torch.nn.MaxUnpool3d(2)(*pool(torch.ones(1, 1, 4, 4, 4))).shape
    torch.Size([1, 1, 4, 4, 4])
    """

    count = 3


class _LPPoolNd(Module):
    count: int

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """Return the norms of windows."""
        pool = getattr(functional, f"lp_pool{self.count}d")
        found: Tensor = pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
        return found

    def extra_repr(self) -> str:
        """Show the arguments."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The norms of windows of lines.

    >>> import rushlight as torch
    >>> torch.nn.LPPool1d(2.0, 2)(torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """

    count = 1


class LPPool2d(_LPPoolNd):
    """The norms of windows of images.

    >>> import rushlight as torch
    >>> torch.nn.LPPool2d(2.0, (1, 2))(torch.tensor([[[3.0, 4.0]]]))
    tensor([[[5.]]])
    """

    count = 2


class LPPool3d(_LPPoolNd):
    """The norms of windows of volumes.

    >>> import rushlight as torch
    >>> torch.nn.LPPool3d(2.0, 2)(torch.ones(1, 1, 2, 2, 4)).flatten()
    tensor([2.8284, 2.8284])
    """

    count = 3
