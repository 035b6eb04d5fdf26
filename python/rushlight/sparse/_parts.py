"""Parts of sparse tensors, and sparse tensors put together: called with any index, along any dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._rushlight import Tensor
from ..autograd import Function
from ._forms import Pieces, is_sparse
from ._functions import _called, _dim, _kept, _widen, check_coordinates, known
from ._making import Values, coalesce, dense, made, named, to_coordinates
from ._matrices import selected

__all__: list[str] = []


@_called("cat", "concat", "concatenate")
def _cat(tensors: Sequence[Any], dim: int = 0, **_: Any) -> Any:
    for place, one in enumerate(tensors):
        if not is_sparse(one):
            raise RuntimeError(
                f"Concatenating sparse tensors, but a dense tensor was found at position {place}."
            )
        if one.layout is not layouts.sparse_coo:
            raise RuntimeError("Sparse CSR tensors do not have is_contiguous")
    dim = _dim(dim, tensors[0].dim())
    _check_forms(tensors, dim)
    kept = [_kept(one) for one in tensors]
    first, places, begin = len(kept[0]._pieces.places), [], 0
    if dim >= first:
        return _cat_dense(kept, dim, first)
    for one in kept:
        shift = native.zeros((first, 1), dtype=native.int64)
        shift[dim] = begin
        places.append(one._pieces.places + shift)
        begin += one.shape[dim]
    values = native.cat([Values.apply(one) for one in kept])
    size = [*kept[0].shape[:dim], begin, *kept[0].shape[dim + 1 :]]
    return made(values, Pieces(native.cat(places, 1), values.detach()), size)


def _check_forms(tensors: Sequence[Any], dim: int) -> None:
    """Refuse tensors that differ in more than the length of the dimension they are put together along."""
    first, *others = tensors
    parts = len(first._pieces.places)
    for place, one in enumerate(others, 1):
        sizes = [[*each.shape[:dim], *each.shape[dim + 1 :]] for each in (first, one)]
        if sizes[0] != sizes[1] or first.dim() != one.dim():
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first.shape)} (except in the concatenating "
                f"dimension), but found shape: {list(one.shape)} at position {place}."
            )
        own = len(one._pieces.places)
        if own != parts:
            raise RuntimeError(
                f"All tensors must have the same sparse_dim and dense_dim: {parts}, {first.dim() - parts}, "
                f"but tensor at position {place} has {own}, {one.dim() - own}."
            )


def _cat_dense(tensors: Sequence[Any], dim: int, first: int) -> Any:
    """Put tensors together along a dimension of the values: each has zeros where the others are."""
    along = dim - first + 1
    lengths = [one.shape[dim] for one in tensors]
    size = [*tensors[0].shape[:dim], sum(lengths), *tensors[0].shape[dim + 1 :]]
    values, begin = [], 0
    for one, length in zip(tensors, lengths, strict=True):
        own = Values.apply(one)
        before, after = ([*own.shape] for _ in range(2))
        before[along], after[along] = begin, size[dim] - begin - length
        values.append(native.cat([own.new_zeros(before), own, own.new_zeros(after)], along))
        begin += length
    places = native.cat([one._pieces.places for one in tensors], 1)
    together = native.cat(values)
    return made(together, Pieces(places, together.detach()), size)


@_called("stack")
def _stack(tensors: Sequence[Any], dim: int = 0, **_: Any) -> Any:
    return _cat([_widen(one, dim) for one in tensors], dim)


@_called("select", "select_copy")
def _select(tensor: Any, dim: int, index: int) -> Any:
    dim = _dim(dim, tensor.dim())
    length = tensor.shape[dim]
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {length}")
    index %= length
    if tensor.layout is not layouts.sparse_coo:
        return _of_matrices(tensor, dim, index)
    kept = _kept(tensor)
    pieces, values = kept._pieces, Values.apply(kept)
    size = [*tensor.shape[:dim], *tensor.shape[dim + 1 :]]
    first = len(pieces.places)
    if dim >= first:
        values = values.select(dim - first + 1, index)
        return made(values, replace(pieces, values=values.detach()), size)
    there = pieces.places[dim] == index
    values = values[there]
    if first == 1:
        return values.sum(0, dtype=values.dtype)
    rest = [place for place in range(first) if place != dim]
    places = pieces.places[rest][:, there]
    return made(values, Pieces(places, values.detach(), is_coalesced=pieces.is_coalesced), size)


def _of_matrices(tensor: Any, dim: int, index: int) -> Any:
    """Return one of several matrices, a part of each value, or a row or column with its coordinates."""
    pieces = tensor._pieces
    first = pieces.batches
    if not first <= dim < first + 2:
        return Select.apply(tensor, dim, index)
    if first:
        raise RuntimeError(
            "select(): selecting sparse dimensions is not supported for batched sparse compressed tensors."
        )
    return _select(coalesce(to_coordinates(tensor)), dim, index)


@named
class Select(Function):
    """One of several matrices, or a part of each value."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, dim: int, index: int) -> Any:
        ctx.size, ctx.where = tensor.shape, (dim, index)
        return selected(tensor, dim, index)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        whole = native.zeros(ctx.size, dtype=gradient.dtype)
        whole.select(*ctx.where).copy_(dense(gradient))
        return whole, None, None


@_called("index_select")
def _rows(tensor: Any, dim: int, index: Tensor) -> Any:
    check_coordinates(tensor, "index_select")
    dim = _dim(dim, tensor.dim())
    if index.dim() != 1 or index.dtype is not native.int64 or is_sparse(index):
        raise IndexError("index_select() argument index must be 1-D strided (non-sparse) long-tensor.")
    length = tensor.shape[dim]
    outside = index[(index < -length) | (index >= length)]
    if len(outside):
        raise IndexError(
            f"index_select(): index contains {int(outside[0])} that is out of range for tensor of size "
            f"{list(tensor.shape)} at dimension {dim}"
        )
    return _picked(tensor, dim, index % length if length else index)


def _picked(tensor: Any, dim: int, index: Tensor) -> Any:
    """Return what is in some places along a dimension."""
    kept = _kept(tensor)
    pieces, values = kept._pieces, Values.apply(kept)
    size = [*tensor.shape[:dim], index.numel(), *tensor.shape[dim + 1 :]]
    if dim >= len(pieces.places):
        values = values.index_select(dim - len(pieces.places) + 1, index)
        return made(values, replace(pieces, values=values.detach()), size)
    wanted, found = (index.reshape(-1, 1) == pieces.places[dim]).nonzero().t()
    places = pieces.places[:, found].clone()
    places[dim] = wanted
    values = values[found]
    return made(values, Pieces(places, values.detach(), is_coalesced=dim == 0 and pieces.is_coalesced), size)


@_called("narrow_copy")
def _narrow_copy(tensor: Any, dim: int, start: int, length: int) -> Any:
    check_coordinates(tensor, "narrow_copy")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not 0 <= dim < tensor.dim():
        raise RuntimeError(f"Dimension {dim} out of range. Expecting 0 <= dim < {tensor.dim()}.")
    whole = tensor.shape[dim]
    if start < 0 or start + length > whole:
        raise RuntimeError(
            f"Invalid range to narrow. range(start, start+length) must be a subset of range(0, {whole})."
        )
    return _picked(tensor, dim, native.arange(start, start + length))


@_called("narrow")
def _narrow(tensor: Any, dim: int, start: int, length: int) -> Any:
    whole = tensor.shape[_dim(dim, tensor.dim())]
    if start + length > whole:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({whole}).")
    check_coordinates(tensor, "as_strided")
    raise NotImplementedError("Could not run 'aten::as_strided' with arguments from the 'SparseCPU' backend.")


@_called("unbind", "__iter__")
def _unbind(tensor: Any, dim: int = 0) -> Any:
    return tuple(_select(tensor, dim, place) for place in range(tensor.shape[dim]))


known["__iter__"] = lambda tensor: iter(_unbind(tensor))


@_called("__getitem__")
def _item(tensor: Any, index: Any) -> Any:
    index = index if isinstance(index, tuple) else (index,)
    used = sum(one is not None and one is not Ellipsis for one in index)
    if Ellipsis in [one for one in index if not isinstance(one, Tensor)]:
        place = next(place for place, one in enumerate(index) if one is Ellipsis)
        index = (*index[:place], *(slice(None),) * (tensor.dim() - used), *index[place + 1 :])
    dim, result = 0, tensor
    for one in index:
        if not is_sparse(result):
            return result[tuple(index[index.index(one) :])]
        if one is None:
            result, dim = _widen(result, dim), dim + 1
        elif isinstance(one, slice):
            places = range(*one.indices(result.shape[dim]))
            if len(places) != result.shape[dim] or places.step != 1:
                result = _picked(result, dim, native.tensor(list(places), dtype=native.int64))
            dim += 1
        elif isinstance(one, Tensor):
            there: Any = one.nonzero() if one.dtype is native.bool else one.unsqueeze(1)
            where = there.squeeze(1)
            result, dim = _rows(result, dim, where.to(native.int64)), dim + 1
        else:
            result = _select(result, dim, int(one))
    return result
