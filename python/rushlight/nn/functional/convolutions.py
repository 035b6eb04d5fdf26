"""Convolutions, and the windows that they see as columns."""

from __future__ import annotations

from typing import Any

from ... import _rushlight as native
from ..._calls.showing import shown, shown_as_given
from ..._rushlight import Tensor

__all__ = [
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "unfold",
]

_nn = native._nn

conv1d = native.conv1d
conv2d = native.conv2d
conv3d = native.conv3d
conv_transpose1d = native.conv_transpose1d
conv_transpose2d = native.conv_transpose2d
conv_transpose3d = native.conv_transpose3d
channel_shuffle = native.channel_shuffle


@shown_as_given
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


def _pair(value: Any) -> Any:
    return (value, value) if isinstance(value, int) else value


@shown
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Return the windows of an image as columns.

    >>> import rushlight as torch
    >>> torch.nn.functional.unfold(torch.zeros(1, 3, 4, 4), 2).shape
    torch.Size([1, 12, 9])
    """
    return _nn.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


@shown
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
