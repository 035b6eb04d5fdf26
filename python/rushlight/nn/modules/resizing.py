"""Layers without parameters that rearrange elements: folding, resampling, shuffling."""

from __future__ import annotations

from typing import Any

from ..._rushlight import Tensor
from .. import functional
from ._shown import shown
from .module import Module

__all__ = [
    "ChannelShuffle",
    "Fold",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


def _check_lengths(size: Any) -> None:
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(size).__name__}")
    for place, length in enumerate(size):
        if not isinstance(length, int):
            raise TypeError(
                "unflattened_size must be tuple of ints, but found element of type "
                f"{type(length).__name__} at pos {place}"
            )


class Unflatten(Module):
    """One dimension as several.

    >>> import rushlight as torch
    >>> torch.nn.Unflatten(1, (2, 3))(torch.zeros(4, 6)).shape
    torch.Size([4, 2, 3])
    """

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        _check_lengths(unflattened_size)
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Apply `unflatten`."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Show the arguments."""
        return shown(self, "dim", "unflattened_size")


class Unfold(Module):
    """The windows of images as columns.

    >>> import rushlight as torch
    >>> torch.nn.Unfold(2)(torch.ones(1, 1, 3, 3)).shape
    torch.Size([1, 4, 4])
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Apply `unfold`."""
        return functional.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """Show the arguments."""
        return shown(self, "kernel_size", "dilation", "padding", "stride")


class Fold(Module):
    """Columns added to where `Unfold` found them.

    >>> import rushlight as torch
    >>> torch.nn.Fold(2, 2)(torch.ones(1, 4, 1)).flatten()
    tensor([1., 1., 1., 1.])
    """

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Apply `fold`."""
        arguments = (self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
        return functional.fold(input, *arguments)

    def extra_repr(self) -> str:
        """Show the arguments."""
        return shown(self, "output_size", "kernel_size", "dilation", "padding", "stride")


class Upsample(Module):
    """Images in another size.

    >>> import rushlight as torch
    >>> torch.nn.Upsample(scale_factor=2)(torch.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply `interpolate`."""
        return functional.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        """Show the arguments."""
        which = "size" if self.scale_factor is None else "scale_factor"
        return f"{which}={getattr(self, which)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images in another size, by the nearest elements.

    >>> import rushlight as torch
    >>> torch.nn.UpsamplingNearest2d(scale_factor=2)(torch.ones(1, 1, 1, 2)).shape
    torch.Size([1, 1, 2, 4])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images in another size, by straight lines.

    >>> import rushlight as torch
    >>> torch.nn.UpsamplingBilinear2d(scale_factor=2)(torch.ones(1, 1, 1, 2)).shape
    torch.Size([1, 1, 2, 4])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """Channels as parts of larger images.

    >>> import rushlight as torch
    >>> torch.nn.PixelShuffle(2)(torch.arange(4).view(4, 1, 1))
    tensor([[[0, 1],
             [2, 3]]])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply `pixel_shuffle`."""
        return functional.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """Show the factor."""
        return shown(self, "upscale_factor")


class PixelUnshuffle(Module):
    """Parts of images as channels.

    >>> import rushlight as torch
    >>> torch.nn.PixelUnshuffle(2)(torch.arange(4).view(1, 2, 2)).flatten()
    tensor([0, 1, 2, 3])
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply `pixel_unshuffle`."""
        return functional.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """Show the factor."""
        return shown(self, "downscale_factor")


class ChannelShuffle(Module):
    """Channels of groups in turn.

    >>> import rushlight as torch
    >>> torch.nn.ChannelShuffle(2)(torch.arange(4).view(1, 4, 1, 1)).flatten()
    tensor([0, 2, 1, 3])
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Apply `channel_shuffle`."""
        return functional.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """Show how many groups."""
        return shown(self, "groups")
