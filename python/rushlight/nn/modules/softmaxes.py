"""Activations that weigh elements against each other as modules."""

from __future__ import annotations

from ..._rushlight import Tensor
from .. import functional
from ._shown import constructed_by_name, shown
from .module import Module

__all__ = ["LogSoftmax", "Softmax", "Softmax2d", "Softmin"]


class _Along(Module):
    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        """Show the dimension."""
        return shown(self, "dim")


@constructed_by_name
class Softmax(_Along):
    """`exp(x)`, scaled to add up to one along `dim`.

    >>> import rushlight as torch
    >>> torch.nn.Softmax(dim=0)(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `softmax`."""
        return functional.softmax(input, self.dim, _stacklevel=5)


@constructed_by_name
class LogSoftmax(_Along):
    """The logarithm of `Softmax`.

    >>> import rushlight as torch
    >>> torch.nn.LogSoftmax(dim=0)(torch.zeros(2))
    tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `log_softmax`."""
        return functional.log_softmax(input, self.dim, _stacklevel=5)


@constructed_by_name
class Softmin(_Along):
    """`exp(-x)`, scaled to add up to one along `dim`.

    >>> import rushlight as torch
    >>> torch.nn.Softmin(dim=0)(torch.tensor([0.0, 1.0]))
    tensor([0.7311, 0.2689])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `softmin`."""
        return functional.softmin(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """`softmax` over the channels of images.

    >>> import rushlight as torch
    >>> torch.nn.Softmax2d()(torch.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `softmax` to the third dimension from the end."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return functional.softmax(input, -3, _stacklevel=5)
