"""What is different among elements, where values belong, and how many lie between bounds."""

from __future__ import annotations

import math

from . import _rushlight as native
from ._rushlight import Tensor
from ._samples import sample_by_sample
from ._typename import scalar_name

TYPE_CHECKING = False  # `typing` would take longer to import than all of this.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["bucketize", "histc", "histogram", "histogramdd", "searchsorted", "unique", "unique_consecutive"]


def _groups(
    input: Tensor, dim: int | None, neighbours: bool, return_inverse: bool, return_counts: bool
) -> Any:
    values, inverse, counts = native._nn.unique_groups(input, dim, neighbours)
    if return_inverse and return_counts:
        return values, inverse, counts
    if return_inverse:
        return values, inverse
    return (values, counts) if return_counts else values


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the different elements, or slices of a dimension, in ascending order.

    >>> import rushlight as torch
    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    return _groups(input, dim, False, return_inverse, return_counts)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the elements, or slices of a dimension, that differ from the one before.

    >>> import rushlight as torch
    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    return _groups(input, dim, True, return_inverse, return_counts)


def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    out: Tensor | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return where values belong among those of the last dimension, which are sorted.

    >>> import rushlight as torch
    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6]))
    tensor([1, 3])
    """
    if side is not None:
        if side not in ("left", "right"):
            raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
        if right and side == "left":
            raise RuntimeError(
                "torch.searchsorted(): side and right can't be set to opposites, got side of left while "
                "right was True"
            )
        right = side == "right"
    if not isinstance(input, Tensor):
        if sorted_sequence.dim() != 1:
            raise RuntimeError(
                "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is "
                f"1, but we got boundaries tensor dim({sorted_sequence.dim()}) and input value's dim(0) "
                "numel(1)"
            )
        input = native.tensor(input)
    found = native._nn.places_among(sorted_sequence, input, right, sorter, out_int32)
    return found if out is None else out.copy_(found)


def bucketize(
    input: Any,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the number of the bucket between `boundaries` in which each value lies.

    >>> import rushlight as torch
    >>> torch.bucketize(torch.tensor([0, 2, 9]), torch.tensor([1, 5]))
    tensor([0, 1, 2])
    """
    if boundaries.dim() != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.dim()})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)


def _check_real(input: Tensor, kernel: str) -> None:
    if input.dtype not in (native.float32, native.float64):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(input)}'")


def _check_bins(bins: int, function: str, dim: int = 0) -> None:
    if bins <= 0:
        raise RuntimeError(f"torch.{function}(): bins must be > 0, but got {bins} for dimension {dim}")


def _range(input: Tensor, low: float, high: float, name: str) -> tuple[float, float]:
    """Return bounds: those given, or those of the elements, or some around a single value."""
    if low == high and input.numel() > 0:
        low, high = float(input.min()), float(input.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{name}: range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"{name}: max must be larger than min")
    return (low - 1.0, high + 1.0) if low == high else (low, high)


def _counted(input: Tensor, bins: int, low: float, high: float) -> Tensor:
    _check_real(input, "histogram_cpu")
    flat = input.detach().flatten()
    inside = (flat >= low) & (flat <= high)
    flat = flat[inside]
    places = ((flat - low) * (bins / (high - low))).long().clamp(0, bins - 1)
    edges = native.linspace(low, high, bins + 1, dtype=input.dtype)
    # The quotient may be off by its last bit: the edges decide.
    places = places - (flat < edges[places]).long()
    places = places + ((flat >= edges[places + 1]) & (places < bins - 1)).long()
    return native.zeros(bins, dtype=input.dtype).index_add(0, places, native.ones_like(flat))


@sample_by_sample("histc")
def histc(
    input: Tensor, bins: int = 100, min: float = 0, max: float = 0, *, out: Tensor | None = None
) -> Tensor:
    """Return how many elements lie in each of `bins` ranges of one width.

    >>> import rushlight as torch
    >>> torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=2)
    tensor([2., 1.])
    """
    _check_bins(bins, "histogram")
    low, high = _range(input, min, max, "torch.histc")
    found = _counted(input, bins, low, high)
    return found if out is None else out.copy_(found)


@sample_by_sample("histogram")
def histogram(
    input: Tensor,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """Return how many elements lie between edges, or in so many ranges of one width, and the edges.

    >>> import rushlight as torch
    >>> torch.histogram(torch.tensor([1.0, 2.0, 1.0]), bins=2).hist
    tensor([2., 1.])
    """
    from . import return_types

    if not isinstance(bins, Tensor):
        _check_bins(bins, "histogram")
    points = input.reshape(-1, 1)
    weights = weight if weight is None or weight.shape != input.shape else weight.reshape(-1)
    counts, edges = _counts(points, [bins], range, weights, density)
    return return_types.histogram((counts, edges[0]))


def histogramdd(
    input: Tensor,
    bins: Any,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """Return how many points lie in each cell of a grid, and the edges of its cells by dimension.

    >>> import rushlight as torch
    >>> torch.histogramdd(torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), bins=2).hist
    tensor([[0., 1.],
            [1., 1.]])
    """
    from . import return_types

    if input.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    size = input.shape[-1]
    each = [bins] * size if isinstance(bins, int) else list(bins)
    if len(each) != size:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    for dim, count in enumerate(each):
        if not isinstance(count, Tensor):
            _check_bins(count, "histogramdd", dim)
    return return_types.histogramdd(_counts(input, each, range, weight, density))


def _counts(
    points: Tensor,
    bins: list[Any],
    range: Sequence[float] | None,
    weight: Tensor | None,
    density: bool,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Return how many points lie in each cell, and the edges of the cells."""
    _check_real(points, "histogramdd")
    if weight is not None and weight.shape != points.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
            f"tensor excluding its innermost dimension, but got input with shape {list(points.shape)} and "
            f"weight with shape {list(weight.shape)}"
        )
    flat = points.detach().reshape(-1, points.shape[-1])
    edges = tuple(_edges(flat[:, dim], dim, count, range) for dim, count in enumerate(bins))
    place: Any = 0
    inside: Any = native.ones(len(flat), dtype=native.bool)
    for dim, edge in enumerate(edges):
        line, last = flat[:, dim].contiguous(), len(edge) - 2
        found = searchsorted(edge, line, right=True) - 1
        found = native.where(line == edge[-1], last, found)
        inside = inside & (found >= 0) & (found <= last)
        place = place * (last + 1) + found.clamp(0, max(last, 0))
    weights = native.ones(len(flat), dtype=points.dtype) if weight is None else weight.reshape(-1)
    sizes = [len(edge) - 1 for edge in edges]
    counts = native.zeros(math.prod(sizes), dtype=points.dtype)
    counts = counts.index_add(0, place[inside], weights[inside].to(points.dtype)).reshape(sizes)
    if density:
        counts = counts / counts.sum()
        for dim, edge in enumerate(edges):
            counts = counts / edge.diff().reshape([-1] + [1] * (len(edges) - 1 - dim))
    return counts, edges


def _edges(line: Tensor, dim: int, count: Any, range: Sequence[float] | None) -> Tensor:
    if isinstance(count, Tensor):
        return count
    if range is not None:
        low, high = float(range[2 * dim]), float(range[2 * dim + 1])
    elif line.numel() == 0:
        low, high = 0.0, 1.0
    else:
        low, high = float(line.min()), float(line.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {dim}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension "
            f"{dim}"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return native.linspace(low, high, count + 1, dtype=line.dtype)


METHODS = (histc, histogram, unique, unique_consecutive)
