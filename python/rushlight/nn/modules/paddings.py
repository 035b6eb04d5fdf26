"""Layers that put something around the last dimensions."""

from __future__ import annotations

from typing import Any, ClassVar

from ..._rushlight import Tensor
from .. import functional
from .._dimensions import spread
from ._shown import constructed_by_name, shown
from .module import Module

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    spatial: ClassVar[int]
    mode: ClassVar[str]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = spread(padding, 2 * self.spatial)

    def forward(self, input: Tensor) -> Tensor:
        """Put something around the last dimensions."""
        return functional.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        """Show how much."""
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Put the value around the last dimensions."""
        return functional.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        """Show how much, and of what."""
        return shown(self, "padding", "value")


@constructed_by_name
class ConstantPad1d(_ConstantPadNd):
    """A value around one dimension.

    >>> import rushlight as torch
    >>> torch.nn.ConstantPad1d(1, 9)(torch.tensor([[1, 2]]))
    tensor([[9, 1, 2, 9]])
    """

    spatial = 1


@constructed_by_name
class ConstantPad2d(_ConstantPadNd):
    """A value around two dimensions.

    >>> import rushlight as torch
    >>> torch.nn.ConstantPad2d(1, 9)(torch.tensor([[[1]]]))
    tensor([[[9, 9, 9],
             [9, 1, 9],
             [9, 9, 9]]])
    """

    spatial = 2


@constructed_by_name
class ConstantPad3d(_ConstantPadNd):
    """A value around three dimensions.

    >>> import rushlight as torch
    >>> torch.nn.ConstantPad3d(1, 9)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    spatial = 3


class _ZeroPad(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Show how much."""
        return f"{self.padding}"


@constructed_by_name
class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Zeros around one dimension.

    >>> import rushlight as torch
    >>> torch.nn.ZeroPad1d(1)(torch.tensor([[1, 2]]))
    tensor([[0, 1, 2, 0]])
    """

    spatial = 1


@constructed_by_name
class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Zeros around two dimensions.

    >>> import rushlight as torch
    >>> torch.nn.ZeroPad2d(1)(torch.tensor([[[1]]]))
    tensor([[[0, 0, 0],
             [0, 1, 0],
             [0, 0, 0]]])
    """

    spatial = 2


@constructed_by_name
class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Zeros around three dimensions.

    >>> import rushlight as torch
    >>> torch.nn.ZeroPad3d(1)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    spatial = 3


class _ReflectionPadNd(_Pad):
    mode = "reflect"


@constructed_by_name
class ReflectionPad1d(_ReflectionPadNd):
    """Mirrors at both ends of one dimension.

    >>> import rushlight as torch
    >>> torch.nn.ReflectionPad1d(1)(torch.tensor([[1.0, 2.0]]))
    tensor([[2., 1., 2., 1.]])
    """

    spatial = 1


@constructed_by_name
class ReflectionPad2d(_ReflectionPadNd):
    """Mirrors around two dimensions.

    >>> import rushlight as torch
    >>> torch.nn.ReflectionPad2d((1, 0, 1, 0))(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[4., 3., 4.],
             [2., 1., 2.],
             [4., 3., 4.]]])
    """

    spatial = 2


@constructed_by_name
class ReflectionPad3d(_ReflectionPadNd):
    """Mirrors around three dimensions.

    >>> import rushlight as torch
    >>> torch.nn.ReflectionPad3d(1)(torch.arange(8.0).view(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    spatial = 3


class _ReplicationPadNd(_Pad):
    mode = "replicate"


@constructed_by_name
class ReplicationPad1d(_ReplicationPadNd):
    """The elements at both ends of one dimension, repeated.

    >>> import rushlight as torch
    >>> torch.nn.ReplicationPad1d(1)(torch.tensor([[1.0, 2.0]]))
    tensor([[1., 1., 2., 2.]])
    """

    spatial = 1


@constructed_by_name
class ReplicationPad2d(_ReplicationPadNd):
    """The elements at the edges of two dimensions, repeated.

    >>> import rushlight as torch
    >>> torch.nn.ReplicationPad2d((1, 0, 1, 0))(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[1., 1., 2.],
             [1., 1., 2.],
             [3., 3., 4.]]])
    """

    spatial = 2


@constructed_by_name
class ReplicationPad3d(_ReplicationPadNd):
    """The elements at the edges of three dimensions, repeated.

    >>> import rushlight as torch
    >>> torch.nn.ReplicationPad3d(1)(torch.arange(8.0).view(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    spatial = 3


class _CircularPadNd(_Pad):
    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """Put the other end around the last dimensions."""
        if input.dim() not in (self.spatial + 1, self.spatial + 2):
            raise ValueError(
                f"expected {self.spatial + 1}D or {self.spatial + 2}D input (got {input.dim()}D input)"
            )
        return super().forward(input)


@constructed_by_name
class CircularPad1d(_CircularPadNd):
    """What is at the other end around one dimension.

    >>> import rushlight as torch
    >>> torch.nn.CircularPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
    tensor([[3., 1., 2., 3., 1.]])
    """

    spatial = 1


@constructed_by_name
class CircularPad2d(_CircularPadNd):
    """What is at the other end around two dimensions.

    >>> import rushlight as torch
    >>> torch.nn.CircularPad2d((1, 0, 1, 0))(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[4., 3., 4.],
             [2., 1., 2.],
             [4., 3., 4.]]])
    """

    spatial = 2


@constructed_by_name
class CircularPad3d(_CircularPadNd):
    """What is at the other end around three dimensions.

    >>> import rushlight as torch
    >>> torch.nn.CircularPad3d(1)(torch.arange(8.0).view(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    spatial = 3
