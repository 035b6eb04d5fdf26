"""Reductions of segments of neighbours (`segment_reduce`) and of the bits of all elements (`hash_tensor`)."""

from __future__ import annotations

from math import inf, nan, prod
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._calls.showing import shown_as_given
from .._rushlight import Tensor
from .._tensors.typename import scalar_name
from .histograms import searchsorted

if TYPE_CHECKING:
    from ..types import Number

# What `scatter_reduce` calls each reduction, and the result for a segment without elements.
_REDUCTIONS = {
    "sum": ("sum", 0.0),
    "mean": ("sum", 0.0),
    "prod": ("prod", 1.0),
    "max": ("amax", -inf),
    "min": ("amin", inf),
    "amax": ("amax", -inf),
    "amin": ("amin", inf),
}


@shown_as_given
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Number | None = None,
) -> Tensor:
    """Return the sums, means, products, maxima or minima of segments of a tensor along a dimension.

    Segments follow one another; either their `lengths` are given, or the `offsets` of their ends, with a zero
    before. All dimensions before the one that is cut may have segments of their own. `initial` is one more
    element of each segment, which means do not count.

    >>> import rushlight as torch
    >>> torch.segment_reduce(torch.tensor([1.0, 2.0, 3.0]), "sum", lengths=torch.tensor([2, 0, 1]))
    tensor([3., 0., 3.])
    """
    given_tensors = {
        "data' (position 1)": data,
        "lengths'": lengths,
        "indices'": indices,
        "offsets'": offsets,
    }
    for place, value in given_tensors.items():
        if value is not None and not isinstance(value, Tensor):
            found = type(value).__name__
            raise TypeError(f"segment_reduce(): argument '{place} must be Tensor, not {found}")
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    axis = _axis(axis, data.dim())
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    name, given = ("offsets", offsets) if offsets is not None else ("lengths", lengths)
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if not data.is_floating_point():
        raise NotImplementedError(f"\"_segment_reduce_cpu\" not implemented for '{scalar_name(data)}'")
    counts = _lengths(data, name, given, axis, unsafe)
    shown = {"axis": axis, "reduce": reduce, "initial": initial}
    shown["lengths" if name == "offsets" else "offsets"] = ...
    names = ("segment_reduce", "SegmentReduceBackward0", f"data {name} result")

    def reduced(data: Tensor, _: Tensor) -> Tensor:
        return _reduced(data, counts, axis, reduce, initial)

    (result,) = native._as_one(reduced, names, (1, 0, 0), shown, data, given)
    return result


def _axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < max(ndim, 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {axis})"
        )
    return axis % ndim if ndim else axis


def _lengths(data: Tensor, name: str, given: Tensor, axis: int, unsafe: bool) -> Tensor:
    """Return the lengths of the segments, checked."""
    if axis != given.dim() - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}."
        )
    if given.dtype not in (native.int64, native.int32):
        kernel = f"_segment_reduce_{name}_cpu_kernel1"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(given)}'")
    if name == "offsets":
        return given.diff(dim=-1).long()
    if not unsafe and given.numel():
        if given.min() < 0:
            raise RuntimeError("lengths contains negative value!")
        if not (given.sum(-1) == data.shape[axis]).all():
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) when !unsafe."
            )
    return given.long()


def _reduced(data: Tensor, lengths: Tensor, axis: int, reduce: str, initial: float | None) -> Tensor:
    before, size, after = data.shape[:axis], data.shape[axis], data.shape[axis + 1 :]
    segments = lengths.shape[-1]
    # One row for all that lies before, one column for all that lies after the dimension.
    rows = data.reshape(prod(before), size, prod(after))
    counts = lengths.reshape(prod(lengths.shape[:-1]), segments)
    ends = counts.cumsum(-1)
    places = native.arange(size).expand(len(ends), size)
    # What lies behind all segments goes to one more, which is left out.
    numbers = searchsorted(ends, places.contiguous(), right=True).unsqueeze(-1).expand(rows.shape)
    kind, empty = _REDUCTIONS[reduce]
    base = data.new_full((len(ends), segments + 1, rows.shape[-1]), empty)
    if kind == "sum":
        found = base.scatter_add(1, numbers, rows)
    else:
        found = _with_ill(base, numbers, rows, kind)
    found = found.narrow(1, 0, segments)
    if initial is not None:
        found = _with_initial(found, kind, initial)
    if reduce == "mean":
        # Without an initial value, nothing is the mean of nothing.
        counts = counts if initial is None else counts.clamp(min=1)
        found = found / counts.unsqueeze(-1).to(found.dtype)
    return found.reshape(*before, segments, *after)


def _with_ill(base: Tensor, numbers: Tensor, rows: Tensor, kind: str) -> Tensor:
    """Return the products, the greatest or the least of segments, where elements may be no numbers.

    Those share the gradient of a greatest or a least; to a product each is a factor as others are.
    """
    is_ill = rows.isnan()
    found = base.scatter_reduce(1, numbers, rows.masked_fill(is_ill, 1), kind, include_self=False)
    nothing = native.zeros_like(base)
    ill = nothing.scatter_add(1, numbers, rows.masked_fill(~is_ill, 0))
    counts = nothing.scatter_add(1, numbers, is_ill.to(rows.dtype))
    if kind == "prod":
        # Of several, no product of all but one is a number.
        ill = found * ill * native.ones_like(counts).masked_fill(counts > 1, nan)
    else:
        ill = ill / counts.clamp(min=1)
    return native.where(counts > 0, ill, found)


def _with_initial(found: Tensor, kind: str, initial: float) -> Tensor:
    if kind == "sum":
        return found + initial
    if kind == "prod":
        return found * initial
    # Who is as great as the initial value has the whole gradient.
    is_kept = found < initial if kind == "amax" else found > initial
    return native.where(is_kept, initial, found)


@shown_as_given
def hash_tensor(
    input: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0, out: Tensor | None = None
) -> Tensor:
    """Return what the bits of elements come to by exclusive or, once they have 64 bits each.

    >>> import rushlight as torch
    >>> torch.hash_tensor(torch.tensor([1, 2, 4]))
    tensor(7, dtype=torch.uint64)
    """
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if input.is_complex():
        raise NotImplementedError(f"\"xor_sum_cpu\" not implemented for '{scalar_name(input)}'")
    ndim = max(input.dim(), 1)
    dims = [dim] if isinstance(dim, int) else list(dim or ()) or list(range(input.dim()))
    if not input.numel() and not isinstance(dim, int) and not dim:
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    for place in dims:
        if not -ndim <= place < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {place})"
            )
        if dims.count(place) > 1:
            raise RuntimeError(f"dim {place} appears multiple times in the list of dims")
        if input.dim() and not input.shape[place]:
            raise IndexError(f"hash_tensor: Expected reduction dim {place} to have non-zero size.")
    wide = input.detach().double().view(native.int64) if input.is_floating_point() else input.to(native.int64)
    places = sorted({place % max(wide.dim(), 1) for place in dims}) if wide.dim() else []
    for place in places:
        wide = _folded(wide, place)
    if not keepdim:
        for place in reversed(places):
            wide = wide.squeeze(place)
    return native._written("hash_tensor", wide.view(native.uint64), out)


def _folded(x: Tensor, dim: int) -> Tensor:
    """Return the exclusive or of all along a dimension, whose size becomes one."""
    while (size := x.shape[dim]) > 1:
        half = size // 2
        joined = x.narrow(dim, 0, half) ^ x.narrow(dim, half, half)
        x = native.cat([joined, x.narrow(dim, size - 1, 1)], dim) if size % 2 else joined
    if not x.shape[dim]:
        return x.sum(dim, keepdim=True)
    return x
