"""What operations of the engine come to of sparse tensors, beneath the graph: those that it calls itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._rushlight import Tensor
from ._forms import BY_COLUMNS, BY_ROWS, IN_BLOCKS, Pieces, coalesced, in_words, is_sparse, like, sparse
from ._making import ends_of, filled, places_of, to_compressed, to_coordinates

_KNOWN: dict[str, Callable[..., Any]] = {}
_SWAPPED = {
    layouts.sparse_csr: layouts.sparse_csc,
    layouts.sparse_csc: layouts.sparse_csr,
    layouts.sparse_bsr: layouts.sparse_bsc,
    layouts.sparse_bsc: layouts.sparse_bsr,
}


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


def _called(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def listed(function: Callable[..., Any]) -> Callable[..., Any]:
        _KNOWN.update(dict.fromkeys(names, function))
        return function

    return listed


@_called("detach", "alias", "lift_fresh", "view_as")
def _same(tensor: Any, *_: Any) -> Any:
    return like(tensor, tensor._pieces.values)


@_called("clone")
def _clone(tensor: Any, **_: Any) -> Any:
    pieces = tensor._pieces
    ends = None if pieces.ends is None else pieces.ends.clone()
    return like(tensor, pieces.values.clone(), places=pieces.places.clone(), ends=ends)


@_called("_to_copy", "to")
def _converted(tensor: Any, *_: Any, dtype: Any = None, **__: Any) -> Any:
    return like(tensor, tensor._pieces.values.to(dtype or tensor.dtype))


@_called("neg")
def _negated(tensor: Any) -> Any:
    return like(tensor, -tensor._pieces.values)


@_called("zeros_like", "empty_like", "new_zeros", "new_empty")
def none_of(tensor: Any, size: Sequence[int] | None = None, *, dtype: Any = None, **_: Any) -> Any:
    """Return a tensor of no values, of the layout of another."""
    pieces, dtype = tensor._pieces, dtype or tensor.dtype
    shape = tensor.shape if size is None else size
    if pieces.layout is layouts.sparse_coo:
        return nothing(shape, dtype, len(pieces.places) if size is None else len(shape))
    return to_compressed(native.zeros(tuple(shape), dtype=dtype), pieces.layout, block_of(pieces))


def block_of(pieces: Pieces) -> Sequence[int] | None:
    """Return the size of blocks, if values are blocks."""
    return tuple(pieces.values.shape[-2:]) if pieces.layout in IN_BLOCKS else None


@_called("ones_like")
def _ones(tensor: Any, *, dtype: Any = None, **_: Any) -> Any:
    pieces = tensor._pieces
    if pieces.layout is layouts.sparse_coo:
        raise NotImplementedError(
            "Could not run 'aten::ones_like' with arguments from the 'SparseCPU' backend."
        )
    return like(tensor, native.ones_like(pieces.values, dtype=dtype or tensor.dtype))


def nothing(size: Sequence[int], dtype: Any, sparse_dim: int) -> Any:
    """Return a tensor of coordinates without values."""
    values = native.zeros((0, *size[sparse_dim:]), dtype=dtype)
    places = native.zeros((sparse_dim, 0), dtype=native.int64)
    return sparse(Pieces(places, values, is_coalesced=True), size)


def overwrite(tensor: Any, other: Any) -> Any:
    """Give a tensor the pieces of another."""
    tensor._pieces = other._pieces
    return tensor


@_called("zero_")
def _emptied(tensor: Any) -> Any:
    return overwrite(tensor, none_of(tensor))


@_called("copy_")
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


@_called("mul")
def _times(one: Any, other: Any) -> Any:
    if not is_sparse(one):
        one, other = other, one
    if _scalar(other):
        return like(one, one._pieces.values * other)
    if not is_sparse(other):
        return _times_dense(one, other)
    if one.layout is not layouts.sparse_coo:
        found = _times(to_coordinates(one), to_coordinates(other))
        return to_compressed(found, one.layout, block_of(one._pieces))
    if one.shape != other.shape:
        raise RuntimeError(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of "
            "sparse dimensions, and shape of sparse dimensions"
        )
    from ._making import _matching

    if one._pieces.places.shape[1] > other._pieces.places.shape[1]:
        one, other = other, one
    # Products of what is there several times are sums of such, if one of the two is there once.
    return like(one, one._pieces.values * _matching(other, one._pieces, one.shape))


def _times_dense(one: Any, other: Tensor) -> Any:
    pieces = one._pieces
    other = other.expand(one.shape)
    from ._making import at_places

    return like(one, pieces.values * at_places(other, pieces, one.shape))


@_called("div", "true_divide", "floor_divide")
def _divided(one: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    if not is_sparse(one) or not _scalar(other):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(other.shape)} for divisor)"
        )
    if rounding_mode is not None:
        one = coalesced(one)
    return like(one, native.div(one._pieces.values, other, rounding_mode=rounding_mode))


@_called("add")
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
        return to_compressed(found, one.layout, block_of(one._pieces))
    first, second = one._pieces, to_coordinates(other)._pieces
    if len(first.places) != len(second.places):
        raise RuntimeError("add: expected sparse tensors with the same number of sparse dimensions")
    dtype = native.promote_types(one.dtype, other.dtype)
    more = second.values if alpha == 1 else second.values * alpha
    if first.places.equal(second.places):
        return like(one, first.values.to(dtype) + more, is_coalesced=first.is_coalesced)
    places = native.cat([first.places, second.places], 1)
    found = sparse(Pieces(places, native.cat([first.values.to(dtype), more.to(dtype)])), one.shape)
    return coalesced(found) if first.is_coalesced and second.is_coalesced else found


@_called("sub")
def _minus(one: Any, other: Any, *, alpha: Any = 1) -> Any:
    return _plus(one, other, alpha=-alpha)


@_called("rsub")
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


@_called("add_")
def _add_to(tensor: Any, other: Any, *, alpha: Any = 1) -> Any:
    return _in_place(_plus)(tensor, other, alpha=alpha) if is_sparse(tensor) else added(tensor, other, alpha)


@_called("sub_")
def _take_from(tensor: Any, other: Any, *, alpha: Any = 1) -> Any:
    return _add_to(tensor, other, alpha=-alpha)


@_called("permute")
def permuted(tensor: Any, order: Sequence[int]) -> Any:
    """Return a tensor with its dimensions in another order."""
    pieces, order = tensor._pieces, [one % tensor.dim() for one in order]
    size = [tensor.shape[one] for one in order]
    if pieces.layout is not layouts.sparse_coo:
        if order == sorted(order):
            return _same(tensor)
        if tensor.dim() == 2:
            values = pieces.values
            values = values.transpose(-1, -2) if values.dim() > 1 else values
            return sparse(replace(pieces, values=values, layout=_SWAPPED[pieces.layout]), size)
        raise RuntimeError("permute: only matrices of compressed layouts can be transposed")
    first = len(pieces.places)
    if sorted(order[:first]) != list(range(first)):
        raise RuntimeError(
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.Only "
            "transpositions within sparse and dense dimensions are supported."
        )
    places = native.stack([pieces.places[one] for one in order[:first]]) if first else pieces.places
    values = pieces.values.permute(0, *(one - first + 1 for one in order[first:]))
    return sparse(Pieces(places, values, is_coalesced=pieces.is_coalesced and order == sorted(order)), size)


@_called("t")
def _turned(tensor: Any) -> Any:
    return permuted(tensor, list(range(tensor.dim()))[::-1])


@_called("transpose")
def _exchanged(tensor: Any, first: int, second: int) -> Any:
    order = list(range(tensor.dim()))
    order[first], order[second] = order[second], order[first]
    return permuted(tensor, order)


@_called("unsqueeze")
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


@_called("mm")
def product(one: Any, other: Any) -> Any:
    """Return the product of two matrices."""
    if is_sparse(one) and is_sparse(other):
        return _product_of_sparse(one, other)
    if not is_sparse(one):
        return product(_turned(other), one.t()).t()
    if one.dim() != 2 or other.dim() != 2:
        raise RuntimeError(f"addmm: Expected matrices, got {one.dim()}D and {other.dim()}D tensors")
    if one.shape[1] != other.shape[0]:
        raise RuntimeError(
            f"addmm: Argument #3 (dense): Expected dim 0 size {one.shape[1]}, got {other.shape[0]}"
        )
    if one.dtype is not other.dtype:
        names = [str(tensor.dtype).rpartition(".")[2].capitalize() for tensor in (one, other)]
        names = [
            {"Float32": "Float", "Float64": "Double", "Float16": "Half", "Int64": "Long"}.get(n, n)
            for n in names
        ]
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")
    pieces = one._pieces
    if pieces.values.dim() > 1:
        return filled(one).mm(other)
    rows, columns = places_of(pieces, one.shape)
    return native._sparse_product(rows, columns, pieces.values, other, one.shape[0])


def _product_of_sparse(one: Any, other: Any) -> Any:
    if one.shape[1] != other.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({one.shape[0]}x{one.shape[1]} and "
            f"{other.shape[0]}x{other.shape[1]})"
        )
    layout = one.layout
    first, second = (coalesced(to_coordinates(matrix)) for matrix in (one, other))
    (rows, inner), lines = first._pieces.places, second._pieces.places
    ends = ends_of(lines[0], other.shape[0])
    begins, counts = ends[inner], ends[inner + 1] - ends[inner]
    # Every value of the one meets the whole row of the other that its column names.
    which = native.repeat_interleave(native.arange(len(inner)), counts)
    before = (counts.cumsum(0) - counts)[which]
    meets = begins[which] + native.arange(len(which)) - before
    values = first._pieces.values[which] * second._pieces.values[meets]
    places = native.stack([rows[which], lines[1][meets]])
    found = coalesced(sparse(Pieces(places, values), (one.shape[0], other.shape[1])))
    return (
        found
        if layout is layouts.sparse_coo
        else to_compressed(found, layout if layout in BY_ROWS else layouts.sparse_csr)
    )


@_called("addmm", "_sparse_addmm")
def _plus_product(start: Any, one: Any, other: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    found = product(one, other)
    found = found * alpha if alpha != 1 else found
    if is_sparse(start) and not is_sparse(found):
        raise RuntimeError("expand is unsupported for Sparse tensors")
    return start * beta + found if beta != 1 else start + found


@_called("mv")
def _by_vector(one: Any, other: Tensor) -> Tensor:
    if one.shape[-1] != other.shape[-1]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    result: Tensor = product(one, other.unsqueeze(1)).squeeze(1)
    return result


@_called("bmm")
def _products(one: Any, other: Any) -> Tensor:
    return native.bmm(*(filled(each) if is_sparse(each) else each for each in (one, other)))


@_called("sum")
def _total(tensor: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if dim is None or len(dim) == tensor.dim():
        return tensor._pieces.values.sum(dtype=dtype)
    return native.sum(filled(tensor), dim, keepdim, dtype=dtype)


@_called("norm", "linalg_vector_norm")
def _length(tensor: Any, p: Any = 2, *_: Any, **__: Any) -> Tensor:
    kept = coalesced(tensor) if tensor.layout is layouts.sparse_coo else tensor
    return kept._pieces.values.norm(p)


@_called("any")
def _any(tensor: Any, *_: Any) -> Tensor:
    found: Tensor = tensor._pieces.values.any()
    return found


@_called("_local_scalar_dense", "item")
def _number(tensor: Any) -> Any:
    return filled(tensor).item()


@_called("equal")
def _equal(one: Any, other: Any) -> bool:
    return filled(one).equal(filled(other))


@_called("sum_to_size")
def _as_it_is(tensor: Any, *_: Any) -> Any:
    return tensor


__all__ = [
    "BY_COLUMNS",
    "added",
    "answer",
    "none_of",
    "nothing",
    "overwrite",
    "permuted",
    "product",
    "widened",
]
