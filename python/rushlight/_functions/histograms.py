"""How many elements lie between bounds, and between which bounds elements lie."""

from __future__ import annotations

import math

from .. import _rushlight as native
from .._calls.showing import shown_as_given, taking
from .._rushlight import Tensor
from .._tensors.typename import scalar_name
from .._warn_once import warn_once
from .under_vmap import any_of_all, of_all_samples, refuse

TYPE_CHECKING = False  # `typing` would take longer to import than all of this.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..types import Number

__all__ = ["bucketize", "histc", "histogram", "histogramdd", "searchsorted"]


# Of which there is a kernel that counts between edges at equal distances.
_COUNTED = (native.float32, native.float64)

_SCATTERED = (
    "torch.searchsorted(): {0} tensor is non-contiguous, this will lower the performance due to extra data "
    "copy when converting non-contiguous tensor to contiguous, please use contiguous {0} tensor if possible. "
    "This message will only appear once per program."
)


@taking(
    "(Tensor sorted_sequence, Tensor input, *, bool out_int32=False, bool right=False, str? side=None, "
    "Tensor? sorter=None, Tensor? out=None)",
    "(Tensor sorted_sequence, Number self, *, bool out_int32=False, bool right=False, str? side=None, "
    "Tensor? sorter=None, Tensor? out=None)",
)
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
    """Find the indices in the innermost, sorted dimension where values would be inserted to keep order.

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
    for tensor, what in ((input, "input value"), (sorted_sequence, "boundary")):
        if not tensor.is_contiguous():
            warn_once(_SCATTERED.format(what))
    if sorter is not None:
        _check_sorter(sorter, sorted_sequence)
    found = native._nn.places_among(sorted_sequence, input, right, sorter, out_int32)
    return native._written("searchsorted", found, out)


def _check_sorter(sorter: Tensor, boundaries: Tensor) -> None:
    if sorter.shape != boundaries.shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(boundaries.shape)}and got sorter tensor {list(sorter.shape)}"
        )
    if sorter.dtype is not native.int64:
        raise RuntimeError(
            f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {scalar_name(sorter)}"
        )
    if sorter.numel() and any_of_all((sorter < 0) | (sorter >= sorter.shape[-1])):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")


@taking(
    "(Tensor input, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor? out=None)",
    "(Number self, Tensor boundaries, *, bool out_int32=False, bool right=False)",
)
def bucketize(
    input: Any,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the indices of the buckets, whose limits are `boundaries`, to which the values belong.

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


def _bounds_of(rows: Tensor, bounds: Sequence[float] | None, not_finite: str) -> list[Tensor]:
    """Return lower and upper bounds of rows: those given, or those of the elements.

    `not_finite` words what is said of bounds that are not.
    """
    if bounds is None:
        found = [rows.amin(1), rows.amax(1)]
    else:
        found = [native.full([len(rows)], float(bound), dtype=rows.dtype) for bound in bounds]
    low, high = found
    _refuse_where(~(low.isfinite() & high.isfinite()), found, not_finite)
    return found


def _refuse_where(condition: Tensor, bounds: Sequence[Tensor], words: str) -> None:
    """Complain of the bounds of the first row for which a condition holds, if there is one."""
    if bool(condition.any()):
        row = int(condition.long().argmax())
        low, high = (bound[row].item() for bound in bounds)
        raise RuntimeError(words.format(low=low, high=high))


@shown_as_given
def histc(
    input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0, *, out: Tensor | None = None
) -> Tensor:
    """Return how many elements lie in each of `bins` ranges of one width.

    >>> import rushlight as torch
    >>> torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=2)
    tensor([2., 1.])
    """
    _check_bins(bins, "histogram")
    return native._written("histc", native._nn.tallies(input.detach(), bins, min, max), out)


@taking(
    "(Tensor input, Tensor bins, *, Tensor? weight=None, bool density=False, Tensor[]? out=None)",
    "(Tensor input, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False, "
    "Tensor[]? out=None)",
)
def histogram(
    input: Tensor,
    bins: Any = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """Return how many elements lie between edges, or in so many ranges of one width, and the edges.

    >>> import rushlight as torch
    >>> torch.histogram(torch.tensor([1.0, 2.0, 1.0]), bins=2).hist
    tensor([2., 1.])
    """
    from .. import return_types

    if not isinstance(bins, Tensor):
        _check_bins(bins, "histogram")
    samples = [input.detach(), weight, bins if isinstance(bins, Tensor) else None]

    def compute(points: Tensor, weights: Tensor | None, edges: Tensor | None) -> list[Tensor]:
        numel = points.numel() // len(points)
        if weights is not None and weights.shape == points.shape:
            weights = weights.reshape(len(points), numel)
        points = points.reshape(len(points), numel, 1)
        counts, found = _counts(points, [bins if edges is None else edges], range, weights, density)
        return [counts, *found]

    found = return_types.histogram(of_all_samples("histogram", compute, samples))
    return native._written("histogram", found, out)


@taking(
    "(Tensor input, int bins, float[]? range=None, Tensor? weight=None, bool density=False)",
    "(Tensor input, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False)",
    "(Tensor input, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool density=False)",
)
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
    from .. import return_types

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
    if native._is_batchedtensor(input):
        refuse("MappedDecision", "histogramdd")
    each = [edges[None] if isinstance(edges, Tensor) else edges for edges in each]
    weights = None if weight is None else weight[None]
    counts, edges = _counts(input.detach()[None], each, range, weights, density)
    return return_types.histogramdd((counts[0], tuple(edge[0] for edge in edges)))


def _counts(
    points: Tensor,
    bins: list[Any],
    range: Sequence[float] | None,
    weight: Tensor | None,
    density: bool,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Return how many points of each sample lie in each cell, and the edges of the cells.

    The samples lie along the first dimension of everything.
    """
    for dim, edge in enumerate(bins):
        if isinstance(edge, Tensor):
            _check_edges(edge, dim, points)
    if weight is not None and weight.dtype != points.dtype:
        from .._messages.formatting import name_in_c

        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the "
            f"same dtype, but got input({name_in_c(points.dtype)}), and weight({name_in_c(weight.dtype)})"
        )
    if weight is not None and weight.shape != points.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
            "tensor excluding its innermost dimension, but got input with shape "
            f"{list(points.shape[1:])} and weight with shape {list(weight.shape[1:])}"
        )
    _check_real(points, "histogramdd")
    samples, dims = len(points), points.shape[-1]
    if range is not None and len(range) != 2 * dims:
        raise RuntimeError(
            f"torch.histogramdd: for a {dims}-dimensional histogram range should have {2 * dims} elements, "
            f"but got {len(range)}"
        )
    flat = points.reshape(samples, math.prod(points.shape[1:-1]), dims)
    edges = tuple(_edges(flat[..., dim], dim, count, range) for dim, count in enumerate(bins))
    if dims == 1 and weight is None and not isinstance(bins[0], Tensor) and points.dtype in _COUNTED:
        counts = native._nn.histograms(flat[..., 0].contiguous(), edges[0])
        return (_densities(counts, edges) if density else counts), edges
    place: Any = native.zeros(flat.shape[:2], dtype=native.int64)
    inside = native.full(flat.shape[:2], dims > 0)
    for dim, edge in enumerate(edges):
        line, last = flat[..., dim].contiguous(), edge.shape[1] - 2
        found = native._nn.places_among(edge, line, True, None, False) - 1
        found = native.where(line == edge[:, -1:], last, found)
        inside = inside & (found >= 0) & (found <= last)
        place = place * (last + 1) + found.clamp(0, max(last, 0))
    weights = inside.to(points.dtype)
    if weight is not None:
        weights = native.where(inside, weight.reshape(inside.shape).to(points.dtype), 0)
    sizes = [edge.shape[1] - 1 for edge in edges]
    counts = native.zeros(samples, math.prod(sizes), dtype=points.dtype)
    counts = counts.scatter_add(1, place, weights).reshape(samples, *sizes)
    return (_densities(counts, edges) if density else counts), edges


def _check_edges(edges: Tensor, dim: int, points: Tensor) -> None:
    """Refuse what are no edges along a dimension; each sample has its own."""
    ndim, count = edges.dim() - 1, edges.numel()
    if edges.dtype != points.dtype:
        from .._messages.formatting import name_in_c

        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with "
            f"dtype {name_in_c(points.dtype)} and bins for dimension {dim} with dtype "
            f"{name_in_c(edges.dtype)}"
        )
    if ndim != 1:
        raise RuntimeError(
            f"torch.histogramdd: bins tensor should have one dimension, but got {ndim} dimensions in the "
            f"bins tensor for dimension {dim}"
        )
    if count == 0:
        raise RuntimeError(
            "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins "
            f"tensor for dimension {dim}"
        )


def _densities(counts: Tensor, edges: tuple[Tensor, ...]) -> Tensor:
    """Return shares of all points by the sizes of the cells."""
    samples, dims = len(counts), len(edges)
    counts = counts / counts.flatten(1).sum(1).reshape([samples] + [1] * dims)
    for dim, edge in enumerate(edges):
        counts = counts / edge.diff().reshape([samples] + [1] * dim + [-1] + [1] * (dims - 1 - dim))
    return counts


def _edges(lines: Tensor, dim: int, count: Any, range: Sequence[float] | None) -> Tensor:
    if isinstance(count, Tensor):
        return count
    if range is None and lines.shape[1] == 0:
        range = [0.0, 1.0] * (dim + 1)
    given = None if range is None else range[2 * dim : 2 * dim + 2]
    not_finite = f"torch.histogramdd: dimension {dim}'s range [{{low:g}}, {{high:g}}] is not finite"
    bounds = low, high = _bounds_of(lines, given, not_finite)
    words = "torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension "
    _refuse_where(low > high, bounds, f"{words}{dim}")
    half = 0.5 * (low == high).to(low.dtype)
    return native._nn.linspaces(low - half, high + half, count + 1)


METHODS = (
    histc,
    histogram,
)
