"""Regions of images by the points in their bins: the greatest, or means that take one channel a bin."""

from __future__ import annotations

from ..._rushlight import Tensor, arange, empty, int32, stack
from ._regions import roi_align

__all__ = ["ps_roi_align", "ps_roi_pool", "roi_pool", "roi_pool_backward"]


def _bins(start: Tensor, length: Tensor, bins: int, last: int) -> tuple[Tensor, Tensor]:
    """Return, for each region and bin along a side, the first point of it and the first after it."""
    place, step = arange(bins), (length / bins).unsqueeze(1)
    low = (place * step).floor().long() + start.unsqueeze(1)
    high = ((place + 1) * step).ceil().long() + start.unsqueeze(1)
    return low.clamp(0, last), high.clamp(0, last)


def _rounded(x: Tensor) -> Tensor:
    """Round halves away from zero, as C does."""
    return (x.abs() + 0.5).floor().long() * x.sign().long()


def roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """Return the greatest of each bin of regions (image, x1, y1, x2, y2), and where it is."""
    _check(rois)
    rows, columns = input.shape[2:]
    corners = _rounded(rois.detach()[:, 1:] * spatial_scale)
    lengths = (corners[:, 2:] - corners[:, :2] + 1).clamp(min=1)
    top, bottom = (x.tolist() for x in _bins(corners[:, 1], lengths[:, 1], pooled_height, rows))
    left, right = (x.tolist() for x in _bins(corners[:, 0], lengths[:, 0], pooled_width, columns))
    shape = (rois.shape[0], input.shape[1], pooled_height, pooled_width)
    where = empty(shape, dtype=int32).fill_(-1)
    for region, image in enumerate(rois[:, 0].long().tolist()):
        for i in range(pooled_height):
            for j in range(pooled_width):
                window = (top[region][i], bottom[region][i]), (left[region][j], right[region][j])
                (y, end_y), (x, end_x) = window
                if y >= end_y or x >= end_x:
                    continue
                at = input.detach()[image, :, y:end_y, x:end_x].flatten(1).argmax(1)
                width = end_x - x
                where[region, :, i, j] = ((y + at // width) * columns + x + at % width).to(int32)
    of_region = input[rois[:, 0].long()].flatten(2)
    found = of_region.gather(2, where.long().clamp(min=0).flatten(2)).view(shape)
    return found * (where >= 0), where


def roi_pool_backward(grad: Tensor, rois: Tensor, argmax: Tensor, size: tuple[int, ...]) -> Tensor:
    """Return the gradient of the images, where the greatest of bins are."""
    images, channels, rows, columns = size
    within = (rois[:, 0].long() * channels).view(-1, 1, 1, 1) + arange(channels).view(1, -1, 1, 1)
    places = within * (rows * columns) + argmax.clamp(min=0)
    flat = grad.new_zeros(images * channels * rows * columns)
    return flat.index_add(0, places.flatten(), (grad * (argmax >= 0)).flatten()).view(size)


def ps_roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> tuple[Tensor, Tensor]:
    """Return means of regions as `roi_align` does, each bin from a channel of its own, and which that is."""
    _check(rois)
    _divided(input, pooled_height, pooled_width)
    means = roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, True)
    return _own_channels(means)


def ps_roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """Return the means of the points in bins, each from a channel of its own, and which that is."""
    _check(rois)
    _divided(input, pooled_height, pooled_width)
    corners = _rounded(rois.detach()[:, 1:] * spatial_scale)
    lengths = (corners[:, 2:] - corners[:, :2]).clamp(min=1)
    weights = []
    for side, bins in ((1, pooled_height), (0, pooled_width)):
        low, high = _bins(corners[:, side], lengths[:, side], bins, input.shape[3 - side] - 1)
        point = arange(input.shape[3 - side])
        within = (point >= low.unsqueeze(2)) & (point < high.unsqueeze(2))
        weights.append(within.to(input.dtype) / within.sum(2, keepdim=True).clamp(min=1))
    rows, columns = weights
    regions = [
        rows[at] @ input[image] @ columns[at].mT for at, image in enumerate(rois[:, 0].long().tolist())
    ]
    if not regions:
        return _own_channels(input.new_zeros(0, input.shape[1], pooled_height, pooled_width))
    return _own_channels(stack(regions))


def _check(rois: Tensor) -> None:
    if rois.dim() != 2 or rois.shape[1] != 5:
        raise RuntimeError("Tensor rois should have shape as Tensor[K, 5]")


def _divided(input: Tensor, height: int, width: int) -> None:
    if input.shape[1] % (height * width):
        raise RuntimeError("input channels must be a multiple of pooling height * pooling width")


def _own_channels(means: Tensor) -> tuple[Tensor, Tensor]:
    """Return of every bin the channels that are its own, and their numbers."""
    regions, channels, height, width = means.shape
    own = arange(channels).view(-1, height, width)
    grouped = means.view(regions, -1, height, width, height, width)
    taken = grouped.diagonal(0, 2, 4).diagonal(0, 2, 3)
    return taken, own.to(int32).expand(regions, *own.shape).clone()
