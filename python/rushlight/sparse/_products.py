"""Products with sparse matrices, beneath the graph."""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._rushlight import Tensor
from .._tensors.typename import scalar_name
from ._compressed import ends_of, rearranged
from ._forms import Pieces, coalesced, is_sparse, sparse
from ._making import filled, places_of, to_coordinates
from ._operators import called, turned

__all__: list[str] = []


@called("mm")
def product(one: Any, other: Any) -> Any:
    """Return the product of two matrices."""
    if is_sparse(one) and is_sparse(other):
        return _product_of_sparse(one, other)
    if not is_sparse(one):
        return product(turned(other), one.t()).t()
    if one.dim() != 2 or other.dim() != 2:
        raise RuntimeError(f"addmm: Expected matrices, got {one.dim()}D and {other.dim()}D tensors")
    if one.shape[1] != other.shape[0]:
        raise RuntimeError(
            f"addmm: Argument #3 (dense): Expected dim 0 size {one.shape[1]}, got {other.shape[0]}"
        )
    if one.dtype is not other.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(one)} but found {scalar_name(other)}")
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
    return found if layout is layouts.sparse_coo else rearranged(found, layouts.sparse_csr)


@called("addmm", "_sparse_addmm")
def plus_product(start: Any, one: Any, other: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return `beta * start + alpha * (one @ other)`."""
    found = product(one, other)
    found = found * alpha if alpha != 1 else found
    if is_sparse(start) and not is_sparse(found):
        raise RuntimeError("expand is unsupported for Sparse tensors")
    return start * beta + found if beta != 1 else start + found


@called("mv")
def _by_vector(one: Any, other: Tensor) -> Tensor:
    if one.shape[-1] != other.shape[-1]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    result: Tensor = product(one, other.unsqueeze(1)).squeeze(1)
    return result


@called("addmv")
def _plus_vector(start: Tensor, one: Any, other: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    if one.layout is layouts.sparse_coo or is_sparse(start):
        raise NotImplementedError("Could not run 'aten::addmv' with arguments from the 'SparseCPU' backend.")
    if one.layout is layouts.sparse_bsc:
        raise RuntimeError("torch.addmv: operation not supported for mat with SparseBsc layout")
    if one.shape[1:] != other.shape or start.shape not in (one.shape[:1], ()):
        sizes = f"got input ({start.numel()}), mat ({one.shape[0]}x{one.shape[1]}), vec ({other.numel()})"
        raise RuntimeError(f"size mismatch, {sizes}")
    found: Tensor = alpha * product(one, other.unsqueeze(1)).squeeze(1)
    return found if beta == 0 else found + beta * start
