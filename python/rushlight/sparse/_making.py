"""Sparse tensors from their pieces and from dense tensors, and dense tensors from them, with gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._functions.composites import unravel_index
from .._functions.histograms import searchsorted
from .._rushlight import Tensor
from ..autograd import Function
from ._forms import BY_ROWS, Pieces, coalesced, flattened, in_words, is_sparse, like, nonzeros, sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__: list[str] = []


def named(function: Any) -> Any:
    """Give the nodes of a function the number that torch's have behind their names."""
    function._backward_cls.__name__ = function._backward_cls.__qualname__ = f"{function.__name__}Backward0"
    return function


@named
class SparseCooTensorWithDimsAndTensors(Function):
    """Of values in places."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, pieces: Pieces, size: Sequence[int]) -> Any:
        ctx.pieces, ctx.size = pieces, tuple(size)
        return sparse(Pieces(pieces.places, values, pieces.layout, pieces.ends, pieces.is_coalesced), size)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return at_places(gradient, ctx.pieces, ctx.size), None, None


def made(values: Tensor, pieces: Pieces, size: Sequence[int]) -> Any:
    """Return the sparse tensor of values, which may have a history, in the places of `pieces`."""
    return SparseCooTensorWithDimsAndTensors.apply(values, pieces, size)


@named
class Values(Function):
    """The values, and sparse gradients of them."""

    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        ctx.pieces, ctx.size = tensor._pieces, tensor.shape
        return tensor._pieces.values.view_as(tensor._pieces.values)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return made(gradient, ctx.pieces, ctx.size)


@named
class Coalesce(Function):
    """The same without repetitions, in order."""

    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        return coalesced(tensor)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient


@named
class ToDense(Function):
    """All elements."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, masked: bool) -> Any:
        kept = coalesced(tensor) if tensor._pieces.layout is layouts.sparse_coo else tensor
        ctx.pieces, ctx.size, ctx.masked = kept._pieces, tensor.shape, masked
        return filled(kept)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        if not ctx.masked or is_sparse(gradient):
            return gradient, None
        return made(at_places(gradient, ctx.pieces, ctx.size), ctx.pieces, ctx.size), None


@named
class ToSparse(Function):
    """The elements in some places."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, pieces: Pieces) -> Any:
        ctx.pieces, ctx.size = pieces, tensor.shape
        values = at_places(tensor, pieces, tensor.shape)
        return sparse(
            Pieces(pieces.places, values, pieces.layout, pieces.ends, pieces.is_coalesced), tensor.shape
        )

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        pieces = ctx.pieces
        if pieces.layout is not layouts.sparse_coo or pieces.is_coalesced:
            return dense(gradient), None
        # What was read in a place several times is so many times there.
        return dense(made(at_places(gradient, pieces, ctx.size), pieces, ctx.size)), None


def dense(tensor: Any, masked: bool = True) -> Tensor:
    """Return all elements of a tensor."""
    result: Tensor = ToDense.apply(tensor, masked) if is_sparse(tensor) else tensor
    return result


def coalesce(tensor: Any) -> Any:
    """Return a tensor of coordinates without repetitions; one that has none is itself."""
    return tensor if tensor._pieces.is_coalesced else Coalesce.apply(tensor)


def places_of(pieces: Pieces, size: Sequence[int]) -> tuple[Tensor, ...]:
    """Return the places of the values, a tensor of numbers for each dimension; of blocks, where these are."""
    if pieces.layout is layouts.sparse_coo:
        return tuple(pieces.places)
    ends: Any = pieces.ends
    counts = ends[..., 1:] - ends[..., :-1]
    batch = ends.shape[:-1]
    lines = native.arange(counts.shape[-1]).expand(counts.shape)
    along = native.repeat_interleave(lines.reshape(-1), counts.reshape(-1))
    across = pieces.places.reshape(-1)
    first = []
    if batch:
        each = native.arange(batch.numel()).repeat_interleave(pieces.places.shape[-1])
        first = list(unravel_index(each, batch))
    return (*first, along, across) if pieces.layout in BY_ROWS else (*first, across, along)


def at_places(tensor: Any, pieces: Pieces, size: Sequence[int]) -> Tensor:
    """Return the elements of a tensor, sparse or not, in the places of `pieces`, as values lie there."""
    shape = pieces.values.shape
    if is_sparse(tensor) and tensor.layout is layouts.sparse_coo and pieces.layout is layouts.sparse_coo:
        return _matching(tensor, pieces, size)
    places = places_of(pieces, size)
    whole = tiled(dense(tensor), pieces.batches, pieces.block)
    found = whole[places] if places else whole.expand(shape[:1] + whole.shape)
    return found.reshape(shape)


def tiled(whole: Tensor, first: int, block: Sequence[int]) -> Tensor:
    """Return matrices, whose rows are dimension `first`, as matrices of blocks."""
    if not block:
        return whole
    height, width = whole.shape[first : first + 2]
    high, wide = block
    shape = (*whole.shape[:first], height // high, high, width // wide, wide, *whole.shape[first + 2 :])
    return whole.reshape(shape).transpose(first + 1, first + 2)


def _matching(tensor: Any, pieces: Pieces, size: Sequence[int]) -> Tensor:
    """Return the values of a sparse tensor in other places: zero where it has none."""
    kept = coalesce(tensor)
    values: Tensor = Values.apply(kept)
    if kept._pieces.places is pieces.places:
        return values
    first = size[: len(pieces.places)]
    wanted, there = flattened(pieces.places, first), flattened(kept._pieces.places, first)
    if not len(there):
        return values.new_zeros((len(wanted), *values.shape[1:]))
    where = searchsorted(there, wanted).clamp(max=len(there) - 1)
    found = (there[where] == wanted).reshape(-1, *(1,) * (values.dim() - 1))
    return native.where(found, values[where], native.zeros((), dtype=values.dtype))


def filled(tensor: Any) -> Tensor:
    """Return all elements of a tensor, whose values have no history."""
    pieces = tensor._pieces
    places = places_of(pieces, tensor.shape)
    if not places:
        total: Tensor = pieces.values.sum(0).to(tensor.dtype)
        return total
    # The view through blocks of what is filled.
    result = native.zeros(tensor.shape, dtype=tensor.dtype)
    tiles = tiled(result, pieces.batches, pieces.block)
    values = pieces.values.reshape(len(places[0]), *pieces.values.shape[pieces.values_from :])
    tiles.index_put_(places, values, accumulate=not pieces.is_coalesced)
    return result


def to_coordinates(tensor: Tensor, dimensions: int | None = None) -> Any:
    """Return a tensor in the layout of coordinates."""
    if is_sparse(tensor):
        pieces: Pieces = tensor._pieces  # type: ignore[attr-defined]
        if pieces.layout is layouts.sparse_coo:
            if dimensions not in (None, len(pieces.places)):
                raise RuntimeError(
                    "to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
                    "!=self.sparse_dim() is not supported"
                )
            return tensor
        if dimensions not in (None, 2):
            raise RuntimeError(
                f"sparse_compressed_to_sparse: conversion from {in_words(tensor)} to Sparse with sparse_dim "
                "argument !=2 is not supported"
            )
        return _uncompressed(tensor)
    count = tensor.dim() if dimensions is None else dimensions
    if not 0 <= count <= tensor.dim() or (count == 0 and tensor.dim()):
        raise RuntimeError(
            f"to_sparse: sparse_dim argument must be in >= 1 and <= {tensor.dim()}, got {count}"
            if tensor.dim()
            else f"sparse_dim argument must be in [0,{tensor.dim()}] range, but {count} is given"
        )
    whole = tensor.detach()
    is_there = whole != 0
    if count < tensor.dim():
        is_there = is_there.flatten(count).any(-1)
    there: Any = is_there.nonzero()
    places = there.t().contiguous()
    if not tensor.dim():
        places = native.zeros((0, int(is_there)), dtype=native.int64)
    values = whole[tuple(places)] if count else whole.expand(places.shape[1])
    return ToSparse.apply(tensor, Pieces(places, values, is_coalesced=True))


def _uncompressed(tensor: Any) -> Any:
    """Return the values of a compressed layout with coordinates: all elements of blocks, zeros too."""
    pieces: Pieces = tensor._pieces
    *batch, rows, columns = (one.to(native.int64) for one in places_of(pieces, tensor.shape))
    values = Values.apply(tensor)
    values = values.reshape(len(rows), *values.shape[pieces.values_from :])
    if pieces.block:
        high, wide = pieces.block
        rows = rows.reshape(-1, 1, 1) * high + native.arange(high).reshape(-1, 1)
        columns = columns.reshape(-1, 1, 1) * wide + native.arange(wide)
        batch = [one.reshape(-1, 1, 1) for one in batch]
        values = values.flatten(0, 2)
    spread = native.broadcast_tensors([*batch, rows, columns])
    places = native.stack([one.reshape(-1) for one in spread])
    is_coalesced = pieces.layout is layouts.sparse_csr
    return made(values, Pieces(places, values.detach(), is_coalesced=is_coalesced), tensor.shape)


__all__ += ["Values", "coalesce", "dense", "like", "made", "nonzeros", "to_coordinates"]
