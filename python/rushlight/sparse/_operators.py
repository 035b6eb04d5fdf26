"""What operations of the engine come to of sparse tensors, beneath the graph: those that it calls itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._functions.composites import broadcast_shapes
from .._rushlight import Tensor
from ._compressed import rearranged
from ._forms import BY_COLUMNS, Pieces, coalesced, in_words, is_sparse, like, sparse, spread, words_of
from ._making import _matching, at_places, filled, to_coordinates
from ._matrices import exchanged, without_values

_KNOWN: dict[str, Callable[..., Any]] = {}


def answer(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Answer in the place of an operator."""
    name = str(func).removeprefix("aten.").partition(".")[0]
    known = _KNOWN.get(name)
    if known is None:
        first = next((one for one in (*args, *kwargs.values()) if is_sparse(one)), None)
        words = "Sparse" if first is None else in_words(first)
        full = str(func).removeprefix("aten.").removesuffix(".default")
        raise NotImplementedError(
            f"Could not run 'aten::{full}' with arguments from the '{words}CPU' backend."
        )
    return known(*args, **kwargs)


def called(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def listed(function: Callable[..., Any]) -> Callable[..., Any]:
        _KNOWN.update(dict.fromkeys(names, function))
        return function

    return listed


@called("detach", "alias", "lift_fresh", "view_as")
def _same(tensor: Any, *_: Any) -> Any:
    return like(tensor, tensor._pieces.values)


@called("clone")
def _clone(tensor: Any, **_: Any) -> Any:
    pieces = tensor._pieces
    ends = None if pieces.ends is None else pieces.ends.clone()
    return like(tensor, pieces.values.clone(), places=pieces.places.clone(), ends=ends)


@called("_to_copy", "to")
def _converted(tensor: Any, *_: Any, dtype: Any = None, **__: Any) -> Any:
    return like(tensor, tensor._pieces.values.to(dtype or tensor.dtype))


@called("neg")
def _negated(tensor: Any) -> Any:
    return like(tensor, -tensor._pieces.values)


@called("zeros_like", "new_zeros", "new_empty")
def none_of(
    tensor: Any, size: Sequence[int] | None = None, *, dtype: Any = None, layout: Any = None, **_: Any
) -> Any:
    """Return a tensor of no values, of the layout of another if none is given."""
    pieces, dtype, layout = tensor._pieces, dtype or tensor.dtype, layout or tensor.layout
    shape = tensor.shape if size is None else size
    if layout is layouts.sparse_coo:
        is_same = pieces.layout is layout and size is None
        return nothing(shape, dtype, len(pieces.places) if is_same else len(shape) - pieces.dense_dims)
    if pieces.layout is layouts.sparse_coo:
        return without_values(shape, layout, dtype, (), pieces.dense_dims)
    return without_values(shape, layout, dtype, pieces.block, pieces.dense_dims, _kind_of(pieces))


def _kind_of(pieces: Pieces) -> Any:
    return pieces.places.dtype


def check_layout(tensor: Any, layout: Any) -> None:
    """Refuse a layout that is not that of a tensor whose places are to be those of another."""
    if layout not in (None, tensor.layout):
        raise RuntimeError(
            f"empty_like with different sparse layout is not supported (self is {in_words(tensor)} but you "
            f"requested {words_of(layout)})"
        )


@called("empty_like")
def _like_without_numbers(tensor: Any, *, dtype: Any = None, **_: Any) -> Any:
    if tensor.layout is layouts.sparse_coo:
        return none_of(tensor, dtype=dtype)
    return like(tensor, native.empty_like(tensor._pieces.values, dtype=dtype or tensor.dtype))


def _values_made(name: str, filler: str) -> Callable[..., Any]:
    make = getattr(native, name)

    def filled_anew(tensor: Any, *args: Any, dtype: Any = None, **_: Any) -> Any:
        pieces = tensor._pieces
        if pieces.layout is layouts.sparse_coo:
            raise NotImplementedError(
                f"Could not run 'aten::{filler}' with arguments from the 'SparseCPU' backend."
            )
        return like(tensor, make(pieces.values, *args, dtype=dtype or tensor.dtype))

    return filled_anew


_KNOWN["ones_like"] = _values_made("ones_like", "fill_.Scalar")
_KNOWN["full_like"] = _values_made("full_like", "fill_.Scalar")
_KNOWN["randn_like"] = _values_made("randn_like", "normal_")


def nothing(size: Sequence[int], dtype: Any, sparse_dim: int) -> Any:
    """Return a tensor of coordinates without values."""
    values = native.zeros((0, *size[sparse_dim:]), dtype=dtype)
    places = native.zeros((sparse_dim, 0), dtype=native.int64)
    return sparse(Pieces(places, values, is_coalesced=True), size)


def overwrite(tensor: Any, other: Any) -> Any:
    """Give a tensor the pieces of another."""
    tensor._pieces = other._pieces
    return tensor


@called("zero_")
def _emptied(tensor: Any) -> Any:
    return overwrite(tensor, none_of(tensor))


@called("copy_")
def _copied(tensor: Any, other: Any, *_: Any) -> Any:
    if not is_sparse(tensor):
        return tensor.copy_(filled(other))
    if not is_sparse(other):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"torch.sparse.{tensor.dtype} and src type = torch.{other.dtype}"
        )
    return overwrite(tensor, _converted(_clone(other), dtype=tensor.dtype))


def _scalar(other: Any) -> bool:
    return not isinstance(other, Tensor) or (other.dim() == 0 and not is_sparse(other))


@called("mul")
def _times(one: Any, other: Any) -> Any:
    if not is_sparse(one):
        one, other = other, one
    if _scalar(other):
        return like(one, one._pieces.values * other)
    if not is_sparse(other):
        return _times_dense(one, other)
    if one.layout is not layouts.sparse_coo:
        found = _times(to_coordinates(one), to_coordinates(other))
        return rearranged(found, one.layout, one._pieces.block or None)
    if one.shape != other.shape or len(one._pieces.places) != len(other._pieces.places):
        raise RuntimeError(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of "
            "sparse dimensions, and shape of sparse dimensions"
        )
    if one._pieces.places.shape[1] > other._pieces.places.shape[1]:
        one, other = other, one
    # Products of what is there several times are sums of such, if one of the two is there once.
    return like(one, one._pieces.values * _matching(other, one._pieces, one.shape))


def _times_dense(one: Any, other: Tensor) -> Any:
    shape = broadcast_shapes(one.shape, other.shape)
    if shape != one.shape:
        one = _repeated(one, shape)
    pieces, other = one._pieces, other.expand(shape)
    return like(one, pieces.values * at_places(other, pieces, shape))


def _repeated(tensor: Any, shape: Sequence[int]) -> Any:
    """Return a tensor of coordinates in a larger shape, its values once in each place that they now have."""
    if tensor.layout is not layouts.sparse_coo:
        raise RuntimeError(f"expand is unsupported for {in_words(tensor)} tensors")
    pieces = tensor._pieces
    more = len(shape) - tensor.dim()
    own = (1,) * more + tuple(tensor.shape)
    first = more + len(pieces.places)
    copies = [length if had == 1 else 1 for length, had in zip(shape[:first], own[:first], strict=True)]
    begin = native.zeros((more, pieces.places.shape[1]), dtype=native.int64)
    places = native.cat([begin, pieces.places])
    values = pieces.values.expand(len(pieces.values), *shape[first:])
    count = prod(copies)
    offsets = spread(native.arange(count), copies)
    places = places.repeat(1, count) + offsets.repeat_interleave(places.shape[1], 1)
    values = values.repeat(count, *(1,) * (values.dim() - 1))
    return coalesced(sparse(Pieces(places, values), shape))


@called("div", "true_divide", "floor_divide")
def _divided(one: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    if not is_sparse(one) or not _scalar(other):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(other.shape)} for divisor)"
        )
    if rounding_mode is not None:
        one = coalesced(one)
    return like(one, native.div(one._pieces.values, other, rounding_mode=rounding_mode))


@called("add")
def _plus(one: Any, other: Any, *, alpha: Any = 1) -> Any:
    if is_sparse(one) and is_sparse(other):
        return _plus_sparse(one, other, alpha)
    if is_sparse(one):
        return filled(one) + alpha * other
    if not isinstance(one, Tensor) or one.shape != other.shape:
        shape = list(one.shape) if isinstance(one, Tensor) else []
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {shape} while other has "
            f"size {list(other.shape)} (FYI: dense-sparse addition does not currently support broadcasting)"
        )
    return added(one.to(native.promote_types(one.dtype, other.dtype)).clone(), other, alpha)


def added(whole: Tensor, other: Any, alpha: Any) -> Tensor:
    """Add a sparse tensor to a dense one in place."""
    pieces = other._pieces
    if pieces.layout is not layouts.sparse_coo or not len(pieces.places):
        return whole.add_(filled(other), alpha=alpha)
    values = (pieces.values if alpha == 1 else pieces.values * alpha).to(whole.dtype)
    if len(pieces.places) == 1:
        return whole.index_add_(0, pieces.places[0], values)
    return whole.index_put_(tuple(pieces.places), values, accumulate=True)


def _plus_sparse(one: Any, other: Any, alpha: Any) -> Any:
    if one.shape != other.shape:
        raise RuntimeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(one.shape)} != "
            f"{list(other.shape)}"
        )
    if one.layout is not layouts.sparse_coo:
        found = _plus_sparse(to_coordinates(one), to_coordinates(other), alpha)
        return rearranged(found, one.layout, one._pieces.block or None)
    first, second = one._pieces, to_coordinates(other)._pieces
    if len(first.places) != len(second.places):
        raise RuntimeError("add: expected sparse tensors with the same number of sparse dimensions")
    dtype = native.promote_types(one.dtype, other.dtype)
    more = second.values if alpha == 1 else second.values * alpha
    parts = first.values.to(dtype), more.to(dtype)
    is_walked = first.values.is_contiguous() and second.values.is_contiguous()
    if is_walked and first.places.equal(second.places):
        return like(one, parts[0] + parts[1], is_coalesced=first.is_coalesced)
    is_ordered = first.is_coalesced and second.is_coalesced
    if is_walked and not is_ordered:
        return sparse(_walked(one.shape[: len(first.places)], first.places, second.places, parts), one.shape)
    found = sparse(Pieces(native.cat([first.places, second.places], 1), native.cat(parts)), one.shape)
    return coalesced(found) if is_walked else found


def _walked(sizes: Any, first: Tensor, second: Tensor, parts: tuple[Tensor, Tensor]) -> Pieces:
    """Return the sums in the order of a walk along both: what comes before the other, or both as one.

    Neither has to be in order, so that a place may be there again, as it may in what torch answers.
    """
    left, right = _keys(sizes, first), _keys(sizes, second)
    rows: tuple[list[int], list[int]] = [], []
    at = to = count = 0
    while at < len(left) and to < len(right):
        here, there = left[at], right[to]
        if here <= there:
            rows[0].append(count)
            at += 1
        if there <= here:
            rows[1].append(count)
            to += 1
        count += 1
    for row, rest in zip(rows, (len(left) - at, len(right) - to), strict=True):
        row.extend(range(count, count + rest))
        count += rest
    places = first.new_empty(len(first), count)
    values = parts[0].new_zeros(count, *parts[0].shape[1:])
    for row, given, added_values in zip(rows, (first, second), parts, strict=True):
        index = native.tensor(row, dtype=native.int64)
        places.index_copy_(1, index, given)
        values = values.index_add(0, index, added_values)
    return Pieces(places, values)


def _keys(sizes: Any, places: Tensor) -> list[int]:
    """Return numbers in the order of the places: no tensor has more elements than there are numbers."""
    keys = native.zeros(places.shape[1], dtype=native.int64)
    for size, place in zip(sizes, places, strict=True):
        keys = keys * size + place
    found: list[int] = keys.tolist()
    return found


@called("sub")
def _minus(one: Any, other: Any, *, alpha: Any = 1) -> Any:
    return _plus(one, other, alpha=-alpha)


@called("rsub")
def _minus_turned(one: Any, other: Any, alpha: Any = 1) -> Any:
    return _plus(other, one, alpha=-alpha)


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def write(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        found = function(tensor, *args, **kwargs)
        if is_sparse(tensor):
            return overwrite(tensor, _converted(found, dtype=tensor.dtype))
        return tensor.copy_(filled(found) if is_sparse(found) else found)

    return write


for _name, _function in {
    "mul_": _times,
    "div_": _divided,
    "neg_": _negated,
    "floor_divide_": _divided,
}.items():
    _KNOWN[_name] = _in_place(_function)


def refuse_dense(one: Any, other: Any) -> None:
    """Refuse sums of something sparse with something that is not, in this order."""
    is_apart = is_sparse(one) and not is_sparse(other)
    if is_apart and (one.layout is layouts.sparse_coo or not isinstance(other, Tensor)):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")


@called("add_")
def _add_to(tensor: Any, other: Any, *, alpha: Any = 1) -> Any:
    refuse_dense(tensor, other)
    return _in_place(_plus)(tensor, other, alpha=alpha) if is_sparse(tensor) else added(tensor, other, alpha)


@called("sub_")
def _take_from(tensor: Any, other: Any, *, alpha: Any = 1) -> Any:
    return _add_to(tensor, other, alpha=-alpha)


@called("permute")
def permuted(tensor: Any, order: Sequence[int]) -> Any:
    """Return a tensor with its dimensions in another order."""
    pieces, order = tensor._pieces, [one % tensor.dim() for one in order]
    size = [tensor.shape[one] for one in order]
    if pieces.layout is not layouts.sparse_coo:
        if order == sorted(order):
            return _same(tensor)
        return exchanged(tensor, *(place for place, one in enumerate(order) if one != place))
    first = len(pieces.places)
    if sorted(order[:first]) != list(range(first)):
        raise RuntimeError(
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.Only "
            "transpositions within sparse and dense dimensions are supported."
        )
    places = native.stack([pieces.places[one] for one in order[:first]]) if first else pieces.places
    values = pieces.values.permute(0, *(one - first + 1 for one in order[first:]))
    return sparse(Pieces(places, values, is_coalesced=pieces.is_coalesced and order == sorted(order)), size)


@called("t")
def turned(tensor: Any) -> Any:
    """Return a tensor with its dimensions in the opposite order."""
    return permuted(tensor, list(range(tensor.dim()))[::-1])


@called("transpose")
def _exchanged(tensor: Any, first: int, second: int) -> Any:
    order = list(range(tensor.dim()))
    order[first], order[second] = order[second], order[first]
    return permuted(tensor, order)


@called("unsqueeze")
def widened(tensor: Any, dim: int) -> Any:
    """Return a tensor of coordinates with one dimension of size one more."""
    pieces = tensor._pieces
    dim = dim % (tensor.dim() + 1)
    size = [*tensor.shape[:dim], 1, *tensor.shape[dim:]]
    first = len(pieces.places)
    if dim > first:
        return sparse(replace(pieces, values=pieces.values.unsqueeze(dim - first + 1)), size)
    row = native.zeros((1, pieces.places.shape[1]), dtype=native.int64)
    places = native.cat([pieces.places[:dim], row, pieces.places[dim:]])
    return sparse(replace(pieces, places=places), size)


@called("bmm")
def _products(one: Any, other: Any) -> Tensor:
    return native.bmm(*(filled(each) if is_sparse(each) else each for each in (one, other)))


@called("sum")
def _total(tensor: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if dim is None or len(dim) == tensor.dim():
        return tensor._pieces.values.sum(dtype=dtype)
    return native.sum(filled(tensor), dim, keepdim, dtype=dtype)


@called("norm", "linalg_vector_norm")
def _length(tensor: Any, p: Any = 2, *_: Any, **__: Any) -> Tensor:
    kept = coalesced(tensor) if tensor.layout is layouts.sparse_coo else tensor
    return kept._pieces.values.norm(p)


@called("any")
def _any(tensor: Any, *_: Any) -> Tensor:
    found: Tensor = tensor._pieces.values.any()
    return found


@called("_local_scalar_dense", "item")
def _number(tensor: Any) -> Any:
    return filled(tensor).item()


@called("equal")
def _equal(one: Any, other: Any) -> bool:
    return filled(one).equal(filled(other))


@called("sum_to_size")
def _as_it_is(tensor: Any, *_: Any) -> Any:
    return tensor


__all__ = [
    "BY_COLUMNS",
    "added",
    "answer",
    "called",
    "none_of",
    "nothing",
    "overwrite",
    "permuted",
    "turned",
    "widened",
]
