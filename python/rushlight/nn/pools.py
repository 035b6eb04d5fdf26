"""Layers without parameters that change sizes: pooling, padding, folding, resampling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from . import functional
from .convolution import spread
from .module import Module

if TYPE_CHECKING:
    from .._rushlight import Tensor

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "ChannelShuffle",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "CosineSimilarity",
    "Fold",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "PairwiseDistance",
    "PixelShuffle",
    "PixelUnshuffle",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


def _shown(module: Module, *names: str) -> str:
    return ", ".join(f"{name}={getattr(module, name)}" for name in names)


class _MaxPool(Module):
    function: ClassVar[Any]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        """Return the greatest elements of windows."""
        return type(self).function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        """Show the arguments."""
        return _shown(self, "kernel_size", "stride", "padding", "dilation", "ceil_mode")


class MaxPool1d(_MaxPool):
    """The greatest elements of windows over one dimension."""

    function = staticmethod(functional.max_pool1d)


class MaxPool2d(_MaxPool):
    """The greatest elements of windows over two dimensions.

    >>> import rushlight as torch
    >>> torch.nn.MaxPool2d(2)(torch.ones(1, 1, 4, 4)).shape
    torch.Size([1, 1, 2, 2])
    """

    function = staticmethod(functional.max_pool2d)


class MaxPool3d(_MaxPool):
    """The greatest elements of windows over three dimensions."""

    function = staticmethod(functional.max_pool3d)


class AvgPool1d(Module):
    """The averages over windows over one dimension."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = spread(kernel_size, 1)
        self.stride = spread(stride if stride is not None else kernel_size, 1)
        self.padding = spread(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Apply `avg_pool1d`."""
        arguments = (self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)
        return functional.avg_pool1d(input, *arguments)

    def extra_repr(self) -> str:
        """Show the arguments."""
        return _shown(self, "kernel_size", "stride", "padding")


class _AvgPool(Module):
    function: ClassVar[Any]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Any:
        """Return the averages over windows."""
        return type(self).function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        """Show the arguments."""
        return _shown(self, "kernel_size", "stride", "padding")


class AvgPool2d(_AvgPool):
    """The averages over windows over two dimensions."""

    function = staticmethod(functional.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The averages over windows over three dimensions."""

    function = staticmethod(functional.avg_pool3d)


class _AdaptivePool(Module):
    function: ClassVar[Any]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Any:
        """Pool over as many windows as are wanted."""
        return type(self).function(input, self.output_size)

    def extra_repr(self) -> str:
        """Show the sizes that are wanted."""
        return _shown(self, "output_size")


class AdaptiveAvgPool1d(_AdaptivePool):
    """The averages over as many windows over one dimension as are wanted."""

    function = staticmethod(functional.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptivePool):
    """The averages over as many windows over two dimensions as are wanted."""

    function = staticmethod(functional.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptivePool):
    """The averages over as many windows over three dimensions as are wanted."""

    function = staticmethod(functional.adaptive_avg_pool3d)


class _AdaptiveMaxPool(_AdaptivePool):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """Return the greatest elements of as many windows as are wanted."""
        return type(self).function(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The greatest elements of as many windows over one dimension as are wanted."""

    function = staticmethod(functional.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The greatest elements of as many windows over two dimensions as are wanted."""

    function = staticmethod(functional.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The greatest elements of as many windows over three dimensions as are wanted."""

    function = staticmethod(functional.adaptive_max_pool3d)


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


class _ConstantPad(_Pad):
    mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Put the value around the last dimensions."""
        return functional.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        """Show how much, and of what."""
        return _shown(self, "padding", "value")


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Show how much."""
        return f"{self.padding}"


class ConstantPad1d(_ConstantPad):
    """A value around one dimension."""

    spatial = 1


class ConstantPad2d(_ConstantPad):
    """A value around two dimensions."""

    spatial = 2


class ConstantPad3d(_ConstantPad):
    """A value around three dimensions."""

    spatial = 3


class ZeroPad1d(_ZeroPad):
    """Zeros around one dimension."""

    spatial = 1


class ZeroPad2d(_ZeroPad):
    """Zeros around two dimensions."""

    spatial = 2


class ZeroPad3d(_ZeroPad):
    """Zeros around three dimensions."""

    spatial = 3


class ReflectionPad1d(_Pad):
    """Mirrors at both ends of one dimension."""

    spatial, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Mirrors around two dimensions."""

    spatial, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Mirrors around three dimensions."""

    spatial, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """The elements at both ends of one dimension, repeated."""

    spatial, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """The elements at the edges of two dimensions, repeated."""

    spatial, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """The elements at the edges of three dimensions, repeated."""

    spatial, mode = 3, "replicate"


class Unflatten(Module):
    """One dimension as several.

    >>> import rushlight as torch
    >>> torch.nn.Unflatten(1, (2, 3))(torch.zeros(4, 6)).shape
    torch.Size([4, 2, 3])
    """

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Apply `unflatten`."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Show the arguments."""
        return _shown(self, "dim", "unflattened_size")


class Unfold(Module):
    """The windows of images as columns."""

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
        return _shown(self, "kernel_size", "dilation", "padding", "stride")


class Fold(Module):
    """Columns added to where `Unfold` found them."""

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
        return _shown(self, "output_size", "kernel_size", "dilation", "padding", "stride")


class Upsample(Module):
    """Images in another size."""

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
    """Images in another size, by the nearest elements."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images in another size, by straight lines."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """Channels as parts of larger images."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply `pixel_shuffle`."""
        return functional.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """Show the factor."""
        return _shown(self, "upscale_factor")


class PixelUnshuffle(Module):
    """Parts of images as channels."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply `pixel_unshuffle`."""
        return functional.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """Show the factor."""
        return _shown(self, "downscale_factor")


class ChannelShuffle(Module):
    """Channels of groups in turn."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Apply `channel_shuffle`."""
        return functional.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """Show how many groups."""
        return _shown(self, "groups")


class CosineSimilarity(Module):
    """The cosine of the angle between vectors."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Apply `cosine_similarity`."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The norms of differences."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Apply `pairwise_distance`."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
