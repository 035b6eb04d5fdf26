"""Convolutions, pooling, padding and resampling as functions."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..._rushlight import Tensor

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "interpolate",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "pad",
    "pixel_shuffle",
    "pixel_unshuffle",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

_nn = native._nn

conv1d = native.conv1d
conv2d = native.conv2d
conv3d = native.conv3d
conv_transpose1d = native.conv_transpose1d
conv_transpose2d = native.conv_transpose2d
conv_transpose3d = native.conv_transpose3d
avg_pool1d = native.avg_pool1d
avg_pool2d = _nn.avg_pool2d
avg_pool3d = _nn.avg_pool3d
adaptive_avg_pool1d = native.adaptive_avg_pool1d
channel_shuffle = native.channel_shuffle
pixel_shuffle = native.pixel_shuffle
pixel_unshuffle = native.pixel_unshuffle


def _max_pool(
    function: Callable[..., Any], name: str, plain: Callable[..., Any] | None = None
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make `name`, which answers places only when asked for, and the form that always does."""

    def with_indices(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        if stride is None:
            stride = ()
        return function(input, kernel_size, stride, padding, dilation, ceil_mode)

    def pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        if plain is not None and not return_indices:
            return plain(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)
        found = with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        return found if return_indices else found[0]

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = "Return the greatest elements of windows, with `return_indices` also where they are."
    with_indices.__name__ = with_indices.__qualname__ = f"{name}_with_indices"
    with_indices.__doc__ = "Return the greatest elements of windows, and where they are."
    return pool, with_indices


max_pool1d, max_pool1d_with_indices = _max_pool(
    native.max_pool1d_with_indices, "max_pool1d", native.max_pool1d
)
max_pool2d, max_pool2d_with_indices = _max_pool(_nn.max_pool2d_with_indices, "max_pool2d")
max_pool3d, max_pool3d_with_indices = _max_pool(_nn.max_pool3d_with_indices, "max_pool3d")


def _whole(input: Tensor, output_size: Any) -> Any:
    """Refuse more sizes than there are dimensions to have them."""
    if isinstance(output_size, (tuple, list)) and input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    return output_size


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Return the averages over as many windows as `output_size` says.

    >>> import rushlight as torch
    >>> torch.nn.functional.adaptive_avg_pool2d(torch.arange(4.0).view(1, 2, 2), 1)
    tensor([[[1.5000]]])
    """
    return _nn.adaptive_avg_pool2d(input, _whole(input, output_size))


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Return the averages over as many windows as `output_size` says.

    >>> import rushlight as torch
    >>> torch.nn.functional.adaptive_avg_pool3d(torch.arange(8.0).view(1, 2, 2, 2), 1).item()
    3.5
    """
    return _nn.adaptive_avg_pool3d(input, _whole(input, output_size))


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the greatest elements of as many windows as `output_size` says, and where they are."""
    return native.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the greatest elements of as many windows as `output_size` says, and where they are."""
    return _nn.adaptive_max_pool2d(input, _whole(input, output_size))


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the greatest elements of as many windows as `output_size` says, and where they are."""
    return _nn.adaptive_max_pool3d(input, _whole(input, output_size))


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the greatest elements of as many windows as `output_size` says.

    >>> import rushlight as torch
    >>> torch.nn.functional.adaptive_max_pool1d(torch.arange(4.0).view(1, 4), 2)
    tensor([[1., 3.]])
    """
    found = adaptive_max_pool1d_with_indices(input, output_size)
    return found if return_indices else found[0]


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the greatest elements of as many windows as `output_size` says.

    >>> import rushlight as torch
    >>> torch.nn.functional.adaptive_max_pool2d(torch.arange(4.0).view(1, 2, 2), 1)
    tensor([[[3.]]])
    """
    found = adaptive_max_pool2d_with_indices(input, output_size)
    return found if return_indices else found[0]


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the greatest elements of as many windows as `output_size` says.

    >>> import rushlight as torch
    >>> torch.nn.functional.adaptive_max_pool3d(torch.arange(8.0).view(1, 2, 2, 2), 1).item()
    7.0
    """
    found = adaptive_max_pool3d_with_indices(input, output_size)
    return found if return_indices else found[0]


def _pair(value: Any) -> Any:
    return (value, value) if isinstance(value, int) else value


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Return the windows of an image as columns.

    >>> import rushlight as torch
    >>> torch.nn.functional.unfold(torch.zeros(1, 3, 4, 4), 2).shape
    torch.Size([1, 12, 9])
    """
    return _nn.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Add columns to where `unfold` found them.

    >>> import rushlight as torch
    >>> torch.nn.functional.fold(torch.ones(1, 4, 1), output_size=2, kernel_size=2)
    tensor([[[[1., 1.],
              [1., 1.]]]])
    """
    arguments = (output_size, kernel_size, dilation, padding, stride)
    return _nn.col2im(input, *(_pair(argument) for argument in arguments))


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Return the tensor with something around its last dimensions.

    >>> import rushlight as torch
    >>> torch.nn.functional.pad(torch.ones(2), (1, 2))
    tensor([0., 1., 1., 0., 0.])
    """
    if mode == "constant":
        return native.constant_pad_nd(input, pad, 0 if value is None else value)
    if len(pad) % 2 != 0:
        raise RuntimeError("Padding length must be divisible by 2")
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    spatial = len(pad) // 2
    if spatial > 3 or input.dim() not in (spatial + 1, spatial + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.dim()}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == "reflect":
        return _nn.reflection_pad(input, pad)
    return _nn.replication_pad(input, pad) if mode == "replicate" else _circular(input, pad)


def _circular(input: Tensor, pad: Sequence[int]) -> Tensor:
    """Pad with what comes next when dimensions are rings."""
    for pair in range(len(pad) // 2):
        dim = input.dim() - 1 - pair
        before, behind = pad[2 * pair], pad[2 * pair + 1]
        size = input.shape[dim]
        if before > size or behind > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + before + behind < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    dims = [(input.dim() - 1 - pair, pad[2 * pair], pad[2 * pair + 1]) for pair in range(len(pad) // 2)]
    shape = list(input.shape)
    for dim, before, behind in dims:
        shape[dim] += before + behind
    padded = input.new_empty(shape)
    middle = padded
    for dim, before, behind in dims:
        start, end = max(-before, 0), input.shape[dim] - max(-behind, 0)
        middle = middle.narrow(dim, max(before, 0), end - start)
        input = input.narrow(dim, start, end - start)
    middle.copy_(input)
    for dim, before, behind in dims:
        size = padded.shape[dim]
        if before > 0:
            last = padded.narrow(dim, size - before - max(behind, 0), before)
            padded.narrow(dim, 0, before).copy_(last)
        if behind > 0:
            first = padded.narrow(dim, max(before, 0), behind)
            padded.narrow(dim, size - behind, behind).copy_(first)
    return padded


_MODES = {3: ("linear",), 4: ("bilinear", "bicubic", "lanczos"), 5: ("trilinear",)}


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Return images in another size.

    >>> import rushlight as torch
    >>> torch.nn.functional.interpolate(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | "
                "bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    spatial = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    scales = None
    if size is not None:
        sizes = _checked("size", size, input, spatial)
    else:
        scales = _checked("scale_factor", scale_factor, input, spatial)
        sizes = [int(length * scale) for length, scale in zip(input.shape[2:], scales, strict=True)]
    if recompute_scale_factor:
        if size is not None:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        scales = None
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D "
            "tensor as "
            "input"
        )
    if mode == "area":
        return {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}[spatial](input, sizes)
    known = [*_MODES[3], *_MODES[4], *_MODES[5]]
    if not 3 <= input.dim() <= 5 or mode not in ("nearest", "nearest-exact", *known):
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported "
            f"(got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | lanczos"
            f" | area | nearest-exact (got {mode})"
        )
    if mode in known and mode not in _MODES[input.dim()]:
        wanted = next(dim for dim, modes in _MODES.items() if mode in modes)
        raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs {wanted}D input")
    if mode == "lanczos" and not antialias:
        raise ValueError("lanczos mode requires antialias=True")
    return _nn.upsample(input, sizes, f"smooth {mode}" if antialias else mode, bool(align_corners), scales)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Return the convolution of sequences that lie by time, batch and channel.

    >>> import rushlight as torch
    >>> F = torch.nn.functional
    >>> F.conv_tbc(torch.ones(3, 1, 2), torch.ones(2, 2, 1), torch.zeros(1)).flatten()
    tensor([4., 4.])
    """
    if input.dim() != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.dim() != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.dim() != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.shape[2] != weight.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.shape[2] != bias.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")

    def convolved(input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        lines = native.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad)
        return lines.permute(2, 0, 1).contiguous()

    names = ("conv_tbc", "ConvTbcBackward0", "self weight bias -")
    (result,) = native._as_one(convolved, names, (3, 0, 0), {"pad": pad}, input, weight, bias)
    return result


def _deprecated(name: str) -> None:
    text = f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead."
    warnings.warn(text, UserWarning, stacklevel=3)


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Return images in another size: the older name of `interpolate`."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Return images in another size, by the nearest elements."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Return images in another size, by lines between neighbours, corners on corners."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _checked(argument: str, value: Any, input: Tensor, spatial: int) -> list[Any]:
    """Return one number for each spatial dimension."""
    if not isinstance(value, (list, tuple)):
        return [value] * spatial
    if len(value) != spatial:
        what = "output size" if argument == "size" else "scale_factor"
        shape = (
            "output size in (o1, o2, ...,oK)" if argument == "size" else "scale_factor in (s1, s2, ...,sK)"
        )
        raise ValueError(
            f"Input and {what} must have the same number of spatial dimensions, but got "
            f"input with spatial dimensions "
            f"of {list(input.shape[2:])} and {what} of {'' if argument == 'size' else 'shape '}{value}. "
            f"Please provide input tensor in (N, C, d1, d2, ...,dK) format and {shape} format."
        )
    return list(value)
