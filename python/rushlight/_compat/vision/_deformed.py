"""Convolution of images whose points are taken from somewhere near."""

from __future__ import annotations

from ..._rushlight import Tensor, arange, stack
from ...nn.functional import grid_sample

__all__ = ["deform_conv2d"]


def deform_conv2d(
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> Tensor:
    """Convolve images at points that lie `offset` (rows, then columns) beside those of the window."""
    images, channels, rows, columns = input.shape
    height, width = weight.shape[2:]
    out_rows, out_columns = offset.shape[2:]
    taps = height * width
    # By image and group: the tap, then the row or column that it shifts, then the point of the result.
    shift = offset.view(images * offset_groups, taps, 2, out_rows, out_columns)
    tap_row = arange(height).repeat_interleave(width) * dilation_h - pad_h
    tap_column = arange(width).repeat(height) * dilation_w - pad_w
    y = tap_row.view(-1, 1, 1) + arange(out_rows).view(1, -1, 1) * stride_h + shift[:, :, 0]
    x = tap_column.view(-1, 1, 1) + arange(out_columns).view(1, 1, -1) * stride_w + shift[:, :, 1]
    grid = stack([_scaled(x, columns), _scaled(y, rows)], -1).flatten(1, 2)
    parts = input.reshape(images * offset_groups, channels // offset_groups, rows, columns)
    taken = grid_sample(parts, grid, padding_mode="zeros", align_corners=False)
    taken = taken.view(images, offset_groups, -1, taps, out_rows, out_columns)
    if use_mask:
        taken = taken * mask.view(images, offset_groups, 1, taps, out_rows, out_columns)
    taken = taken.reshape(images, groups, channels // groups, taps, out_rows, out_columns)
    kernels = weight.view(groups, -1, channels // groups, taps)
    rows_of_taps = taken.flatten(2, 3).flatten(3)
    result = (kernels.flatten(2) @ rows_of_taps).view(images, -1, out_rows, out_columns)
    return result + bias.view(1, -1, 1, 1)


def _scaled(place: Tensor, size: int) -> Tensor:
    """Return places of points where the image begins at -1 and ends at 1."""
    return (place * 2 + 1) / size - 1
