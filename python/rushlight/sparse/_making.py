"""Sparse tensors from their pieces and from dense tensors, and dense tensors from them, with gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._functions.composites import unravel_index
from .._functions.histograms import searchsorted
from .._rushlight import Tensor
from ..autograd import Function
from ._forms import BY_ROWS, IN_BLOCKS, Pieces, coalesced, flattened, is_sparse, like, nonzeros, sparse

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
    if pieces.layout in IN_BLOCKS:
        return _blocks(dense(tensor), pieces)
    shape = pieces.values.shape
    if is_sparse(tensor) and tensor.layout is layouts.sparse_coo and pieces.layout is layouts.sparse_coo:
        return _matching(tensor, pieces, size)
    places = places_of(pieces, size)
    whole = dense(tensor)
    found = whole[places] if places else whole.expand(shape[:1] + whole.shape)
    return found.reshape(shape)


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
    result = native.zeros(tensor.shape, dtype=tensor.dtype)
    if pieces.layout in IN_BLOCKS:
        return _from_blocks(tensor)
    places, values = places_of(pieces, tensor.shape), pieces.values
    if pieces.layout is not layouts.sparse_coo:
        values = values.reshape(len(places[0]), *values.shape[pieces.places.dim() :])
    if not places:
        total: Tensor = values.sum(0).to(tensor.dtype)
        return total
    if pieces.is_coalesced:
        return result.index_put_(places, values)
    return result.index_put_(places, values, accumulate=True)


def _blocks(whole: Tensor, pieces: Pieces) -> Tensor:
    high, wide = pieces.values.shape[-2:]
    rows, columns = places_of(pieces, whole.shape)
    tiles = whole.reshape(whole.shape[0] // high, high, whole.shape[1] // wide, wide).permute(0, 2, 1, 3)
    return tiles[rows, columns]


def _from_blocks(tensor: Any) -> Tensor:
    pieces = tensor._pieces
    high, wide = pieces.values.shape[-2:]
    rows, columns = places_of(pieces, tensor.shape)
    tiles = native.zeros((tensor.shape[0] // high, tensor.shape[1] // wide, high, wide), dtype=tensor.dtype)
    tiles.index_put_((rows, columns), pieces.values)
    return tiles.permute(0, 2, 1, 3).reshape(tensor.shape)


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
        if pieces.layout in IN_BLOCKS:
            return _blocks_to_coordinates(tensor)
        places = native.stack(places_of(pieces, tensor.shape))
        values = Values.apply(tensor).reshape(places.shape[1], *pieces.values.shape[pieces.places.dim() :])
        pieces = Pieces(places, values.detach(), is_coalesced=pieces.layout in BY_ROWS)
        return made(values, pieces, tensor.shape)
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


def _blocks_to_coordinates(tensor: Any) -> Any:
    """Return all elements of blocks, zeros too, block after block."""
    pieces = tensor._pieces
    high, wide = pieces.values.shape[-2:]
    rows, columns = places_of(pieces, tensor.shape)
    along = (rows * high).reshape(-1, 1, 1) + native.arange(high).reshape(-1, 1)
    across = (columns * wide).reshape(-1, 1, 1) + native.arange(wide)
    places = native.stack([each.expand(pieces.values.shape).reshape(-1) for each in (along, across)])
    values = Values.apply(tensor).reshape(-1)
    return made(values, Pieces(places, values.detach()), tensor.shape)


def to_compressed(
    tensor: Tensor, layout: Any, block: Sequence[int] | None = None, caller: str = "dense_to_sparse"
) -> Any:
    """Return a matrix, or several, in a compressed layout."""
    if is_sparse(tensor) and tensor.layout is layout and block is None:
        return tensor
    if tensor.dim() < 2 and not is_sparse(tensor):
        raise RuntimeError(
            "torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got "
            f"size {list(tensor.shape)}"
        )
    if layout in IN_BLOCKS:
        return _to_blocks(tensor, layout, block, caller)
    if tensor.dim() > 2:
        return _batch_to_compressed(dense(tensor), layout)
    kept = coalesce(to_coordinates(tensor))
    if len(kept._pieces.places) != 2:
        raise RuntimeError(
            f"coo_to_sparse_{str(layout)[-3:]}: conversion from Sparse to SparseC{str(layout)[-2:]} for "
            "input tensors with sparse_dim()!=2 is not supported"
        )
    rows, columns = kept._pieces.places
    if layout in BY_ROWS:
        lines, across, count, order = rows, columns, tensor.shape[0], None
    else:
        order = native.argsort(columns, stable=True)
        lines, across, count = columns[order], rows[order], tensor.shape[1]
    values = Values.apply(kept)
    values = values if order is None else values[order]
    return made(
        values, Pieces(across.contiguous(), values.detach(), layout, ends_of(lines, count)), tensor.shape
    )


def ends_of(lines: Tensor, count: int) -> Tensor:
    """Return where lines begin and end, of values in the order of lines."""
    counts = native.zeros(count, dtype=native.int64).index_add_(0, lines, native.ones_like(lines))
    return native.cat([native.zeros(1, dtype=native.int64), counts.cumsum(0)])


def _batch_to_compressed(whole: Tensor, layout: Any) -> Any:
    single = [to_compressed(one, layout)._pieces for one in whole.detach().reshape(-1, *whole.shape[-2:])]
    if len({len(one.places) for one in single}) > 1:
        raise RuntimeError("Expect the same number of specified elements per batch.")
    batch = whole.shape[:-2]
    together = [
        native.stack(ones).reshape(*batch, -1)
        for ones in (
            [one.places for one in single],
            [one.values for one in single],
            [one.ends for one in single],
        )
    ]
    return ToSparse.apply(whole, Pieces(together[0], together[1], layout, together[2]))


def _to_blocks(tensor: Tensor, layout: Any, block: Sequence[int] | None, caller: str) -> Any:
    whole = dense(tensor)
    if block is None:
        raise RuntimeError("blocksize is required")
    high, wide = block
    if whole.shape[0] % high or whole.shape[1] % wide:
        raise RuntimeError(
            f"{caller}: tensor sparse size ({','.join(map(str, whole.shape))}) must be divisible by given "
            f"blocksize ({high},{wide})"
        )
    tiles = whole.detach().reshape(whole.shape[0] // high, high, whole.shape[1] // wide, wide)
    is_there = (tiles != 0).any(3).any(1)
    chart = to_compressed(is_there, layouts.sparse_csr if layout in BY_ROWS else layouts.sparse_csc)._pieces
    empty = tiles.new_zeros((len(chart.places), high, wide))
    return ToSparse.apply(whole, Pieces(chart.places, empty, layout, chart.ends))


__all__ += ["Values", "coalesce", "dense", "like", "made", "nonzeros", "to_compressed", "to_coordinates"]
