"""Layers that leave elements out by chance."""

from __future__ import annotations

from ..._rushlight import Tensor
from .. import functional
from ._shown import shown
from .module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _DropoutNd(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Show the arguments."""
        return shown(self, "p", "inplace")


class Dropout(_DropoutNd):
    """Elements left out by chance in training, made up for by the others.

    >>> import rushlight as torch
    >>> torch.nn.Dropout(0.5).eval()(torch.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `dropout`."""
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Channels of lines left out by chance in training.

    >>> import rushlight as torch
    >>> bool(torch.nn.Dropout1d(1.0)(torch.ones(1, 2, 3)).any())
    False
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `dropout1d`."""
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Channels of images left out by chance in training.

    >>> import rushlight as torch
    >>> bool(torch.nn.Dropout2d(1.0)(torch.ones(1, 2, 3, 3)).any())
    False
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `dropout2d`."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Channels of volumes left out by chance in training.

    >>> import rushlight as torch
    >>> bool(torch.nn.Dropout3d(1.0)(torch.ones(1, 2, 3, 3, 3)).any())
    False
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `dropout3d`."""
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Elements left out by chance in training; mean and variance stay.

    >>> import rushlight as torch
    >>> torch.nn.AlphaDropout().eval()(torch.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `alpha_dropout`."""
        return functional.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """Channels left out by chance in training; mean and variance stay.

    >>> import rushlight as torch
    >>> torch.nn.FeatureAlphaDropout().eval()(torch.ones(1, 3))
    tensor([[1., 1., 1.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `feature_alpha_dropout`."""
        return functional.feature_alpha_dropout(input, self.p, self.training)
