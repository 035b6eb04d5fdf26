"""Regions of images, sampled between their points and averaged into grids."""

from __future__ import annotations

from ..._rushlight import Tensor, arange, cat, zeros

__all__ = ["roi_align"]

_AT_ONCE = 32


def roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """Return the means of regions (image, x1, y1, x2, y2) in a grid, sampled between the points of the image.

    Interpolation along rows and along columns are apart, so that a region is two products of matrices;
    gradients pass to the image.
    """
    if rois.dim() != 2 or rois.shape[1] != 5:
        raise RuntimeError("rois must have shape as Tensor[K, 5]")
    places = rois.detach().to(input.dtype)
    corners = places[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)
    sizes = corners[:, 2:] - corners[:, :2]
    if not aligned:
        sizes = sizes.clamp(min=1.0)
    results = []
    for start in range(0, places.shape[0], _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        rows = _weights(corners[part, 1], sizes[part, 1], pooled_height, sampling_ratio, input.shape[2])
        columns = _weights(corners[part, 0], sizes[part, 0], pooled_width, sampling_ratio, input.shape[3])
        images = input[places[part, 0].long()]
        results.append(rows.unsqueeze(1) @ images @ columns.unsqueeze(1).mT)
    if results:
        return cat(results)
    return input.new_zeros(0, input.shape[1], pooled_height, pooled_width)


def _weights(start: Tensor, length: Tensor, bins: int, ratio: int, size: int) -> Tensor:
    """Return, for each region and bin, how much of each point along a side its mean takes."""
    step = (length / bins).unsqueeze(-1)
    counts = step.ceil().long().clamp(min=0) if ratio <= 0 else (step * 0 + ratio).long()
    most = max(int(counts.max()), 1)
    sample = arange(most)
    # One row a region, then bins, then samples.
    within = (sample + 0.5) / counts.clamp(min=1)
    at = start.view(-1, 1, 1) + (arange(bins).view(1, -1, 1) + within.unsqueeze(1)) * step.unsqueeze(1)
    taken = ((sample < counts).unsqueeze(1) & (at >= -1.0) & (at <= size)).to(start.dtype)
    at = at.clamp(min=0.0)
    low = at.floor().long().clamp(max=size - 1)
    at = at.where(low < size - 1, low.to(at.dtype))
    share = at - low
    weights = zeros(start.shape[0], bins, size, dtype=start.dtype)
    weights = weights.scatter_add(2, low, taken * (1 - share))
    weights = weights.scatter_add(2, (low + 1).clamp(max=size - 1), taken * share)
    return weights / counts.clamp(min=1).unsqueeze(-1)
