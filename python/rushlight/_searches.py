"""What is different among elements, where values belong, and how many lie between bounds."""

from __future__ import annotations

import math

from . import _rushlight as native
from ._rushlight import Tensor

TYPE_CHECKING = False  # `typing` would take longer to import than all of this.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["bucketize", "histc", "histogram", "searchsorted", "unique", "unique_consecutive"]


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


def _range(input: Tensor, low: float, high: float, name: str) -> tuple[float, float]:
    """Return bounds: those given, or those of the elements, or some around a single value."""
    if low == high and input.numel() > 0:
        low, high = float(input.min()), float(input.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{name}: range of [{low}, {high}] is not finite")
    if low > high:
        if name == "torch.histc":
            raise RuntimeError("torch.histc: max must be larger than min")
        raise RuntimeError(
            f"{name}(): min should not exceed max, but got min: {low} max: {high} for dimension 0"
        )
    if low == high:
        widened = 1.0 if name == "torch.histc" else 0.5
        return low - widened, high + widened
    return low, high


def _counted(input: Tensor, bins: int, low: float, high: float, weight: Tensor | None = None) -> Tensor:
    if input.dtype not in (native.float32, native.float64):
        name = str(input.type()).rpartition(".")[2].removesuffix("Tensor")
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{name}'")
    flat = input.detach().flatten()
    inside = (flat >= low) & (flat <= high)
    flat = flat[inside]
    places = ((flat - low) * (bins / (high - low))).long().clamp(0, bins - 1)
    edges = native.linspace(low, high, bins + 1, dtype=input.dtype)
    # The quotient may be off by its last bit: the edges decide.
    places = places - (flat < edges[places]).long()
    places = places + ((flat >= edges[places + 1]) & (places < bins - 1)).long()
    weights = native.ones_like(flat) if weight is None else weight.flatten()[inside]
    return native.zeros(bins, dtype=input.dtype).index_add(0, places, weights)


def histc(
    input: Tensor, bins: int = 100, min: float = 0, max: float = 0, *, out: Tensor | None = None
) -> Tensor:
    """Return how many elements lie in each of `bins` ranges of one width.

    >>> import rushlight as torch
    >>> torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=2)
    tensor([2., 1.])
    """
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = _range(input, min, max, "torch.histc")
    found = _counted(input, bins, low, high)
    return found if out is None else out.copy_(found)


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
    if isinstance(bins, Tensor):
        edges = bins
        flat = input.detach().flatten()
        places = searchsorted(edges, flat, right=True) - 1
        count = len(edges) - 1
        places = native.where(flat == edges[-1], count - 1, places)
        inside = (places >= 0) & (places < count)
        weights = native.ones_like(flat) if weight is None else weight.flatten()
        counts = native.zeros(count, dtype=input.dtype).index_add(0, places[inside], weights[inside])
    else:
        first, last = tuple(range) if range else (0.0, 0.0)
        low, high = _range(input, first, last, "torch.histogram")
        edges = native.linspace(low, high, bins + 1, dtype=input.dtype)
        counts = _counted(input, bins, low, high, weight)
    if density:
        counts = counts / counts.sum() / edges.diff()
    from . import return_types

    return return_types.histogram((counts, edges))


METHODS = (histc, histogram, unique, unique_consecutive)
