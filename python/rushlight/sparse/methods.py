"""What tensors of any layout are asked that is of sparse ones: pieces, and other layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._rushlight import Tensor
from . import _making
from ._compressed import to_compressed
from ._forms import BY_COLUMNS, BY_ROWS, Pieces, in_words, is_sparse, nonzeros, pieces_of
from ._functions import known, resized_to
from ._making import Values
from ._matrices import resized, resized_as
from ._operators import nothing

__all__: list[str] = []

_NOT_COALESCED = "Cannot get {} on an uncoalesced tensor, please call .coalesce() first"


def _coordinates(self: Tensor, name: str) -> Pieces:
    if not is_sparse(self) or self.layout is not layouts.sparse_coo:
        raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got {in_words(self)}")
    return pieces_of(self)


def coalesce(self: Tensor) -> Any:
    """Return the same tensor of coordinates, its places in order and each but once."""
    _coordinates(self, "coalesce")
    return _making.coalesce(self)


def is_coalesced(self: Tensor) -> bool:
    """Tell whether places are in order and each is there but once."""
    return _coordinates(self, "is_coalesced").is_coalesced


def _coalesced_(self: Tensor, coalesced: bool) -> Tensor:
    """Say whether places are in order and each is there but once."""
    from dataclasses import replace

    self._pieces = replace(_coordinates(self, "_coalesced_"), is_coalesced=coalesced)  # type: ignore[attr-defined]
    return self


def indices(self: Tensor) -> Tensor:
    """Return the places of the values: a column for each."""
    pieces = _coordinates(self, "indices")
    if not pieces.is_coalesced:
        raise RuntimeError(_NOT_COALESCED.format("indices"))
    return pieces.places.view_as(pieces.places)


def values(self: Tensor) -> Any:
    """Return the values that are kept."""
    if not is_sparse(self):
        raise RuntimeError(f"values expected sparse tensor layout but got {in_words(self)}")
    if self.layout is layouts.sparse_coo and not pieces_of(self).is_coalesced:
        raise RuntimeError(_NOT_COALESCED.format("values"))
    return Values.apply(self)


def _indices(self: Tensor) -> Tensor:
    """Return the places, in order or not."""
    return _coordinates(self, "_indices").places


def _values(self: Tensor) -> Tensor:
    """Return the values, without a history."""
    return _coordinates(self, "_values").values


def _nnz(self: Tensor) -> int:
    """Return how many values are kept."""
    if not is_sparse(self):
        raise RuntimeError(f"_nnz expected sparse tensor layout but got {in_words(self)}")
    return nonzeros(self)


def sparse_dim(self: Tensor) -> int:
    """Return how many dimensions places have."""
    if not is_sparse(self):
        return 0
    return len(pieces_of(self).places) if self.layout is layouts.sparse_coo else 2


def dense_dim(self: Tensor) -> int:
    """Return how many dimensions each value has."""
    if not is_sparse(self):
        return self.dim()
    return pieces_of(self).dense_dims


def _compressed(self: Tensor, name: str, family: tuple[Any, ...], word: str) -> Pieces:
    if not is_sparse(self) or self.layout not in family:
        raise RuntimeError(f"{name} expected sparse {word} compressed tensor layout but got {in_words(self)}")
    return pieces_of(self)


def crow_indices(self: Tensor) -> Any:
    """Return where rows begin and end."""
    return _compressed(self, "crow_indices", BY_ROWS, "row").ends


def col_indices(self: Tensor) -> Tensor:
    """Return of each value in which column it is."""
    return _compressed(self, "col_indices", BY_ROWS, "row").places


def ccol_indices(self: Tensor) -> Any:
    """Return where columns begin and end."""
    return _compressed(self, "ccol_indices", BY_COLUMNS, "column").ends


def row_indices(self: Tensor) -> Tensor:
    """Return of each value in which row it is."""
    return _compressed(self, "row_indices", BY_COLUMNS, "column").places


def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """Return a tensor with all of its elements, in another type if one is given.

    >>> import rushlight as torch
    >>> torch.eye(2).to_sparse().to_dense()
    tensor([[1., 0.],
            [0., 1.]])
    """
    if dtype is not None and not isinstance(dtype, native.dtype):
        found = type(dtype).__name__
        raise TypeError(f"to_dense(): argument 'dtype' (position 1) must be torch.dtype, not {found}")
    if not is_sparse(self):
        return self if dtype is None else self.to(dtype)
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    return _making.dense(self, masked_grad is not False)


def to_sparse(
    self: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: Any = None,
    blocksize: int | Sequence[int] | None = None,
    dense_dim: int | None = None,
) -> Any:
    """Return a tensor of the elements that are not zero.

    >>> import rushlight as torch
    >>> torch.tensor([0.0, 2.0]).to_sparse()
    tensor(indices=tensor([[1]]),
           values=tensor([2.]),
           size=(2,), nnz=1, layout=torch.sparse_coo)
    """
    if layout is native.strided:
        return _making.dense(self)
    if layout in (None, layouts.sparse_coo):
        return _making.to_coordinates(self, sparse_dim)
    block = None if blocksize is None else _block(blocksize, "to_sparse", "")
    return to_compressed(self, layout, block, dense_dim)


def _block(given: Any, method: str, position: str = " (position 1)") -> list[int]:
    """Return the two sizes of blocks: a number is both."""
    if isinstance(given, int):
        return [given, given]
    if not isinstance(given, (tuple, list)):
        found = type(given).__name__
        raise TypeError(f"{method}(): argument 'blocksize'{position} must be tuple of ints, not {found}")
    return list(given)


def to_sparse_coo(self: Tensor) -> Any:
    """Return a tensor of the elements that are not zero, with their places."""
    return _making.to_coordinates(self)


def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Any:
    """Return a matrix of the elements that are not zero, row by row."""
    return to_compressed(self, layouts.sparse_csr, None, dense_dim, "to_sparse_csr")


def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Any:
    """Return a matrix of the elements that are not zero, column by column."""
    return to_compressed(self, layouts.sparse_csc, None, dense_dim, "to_sparse_csc")


def to_sparse_bsr(self: Tensor, blocksize: int | Sequence[int], dense_dim: int | None = None) -> Any:
    """Return a matrix of the blocks that are not zero, row by row."""
    block = _block(blocksize, "to_sparse_bsr")
    return to_compressed(self, layouts.sparse_bsr, block, dense_dim, "to_sparse_bsr")


def to_sparse_bsc(self: Tensor, blocksize: int | Sequence[int], dense_dim: int | None = None) -> Any:
    """Return a matrix of the blocks that are not zero, column by column."""
    block = _block(blocksize, "to_sparse_bsc")
    return to_compressed(self, layouts.sparse_bsc, block, dense_dim, "to_sparse_bsc")


def sparse_mask(self: Tensor, mask: Any) -> Any:
    """Return the elements in the places of a sparse tensor."""
    if self.shape != mask.shape:
        raise RuntimeError("sparse_mask(): operands have incompatible sizes")
    pieces = mask._pieces
    if is_sparse(self):
        return _making.made(_making.at_places(self, pieces, self.shape), pieces, self.shape)
    return _making.ToSparse.apply(self, pieces)


def smm(self: Tensor, mat: Tensor) -> Any:
    """Return the product with a dense matrix as a sparse one."""
    from . import smm

    return smm(self, mat)


def sspaddmm(self: Tensor, mat1: Any, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return `beta * self + alpha * (mat1 @ mat2)` as a sparse matrix."""
    from . import sspaddmm

    return sspaddmm(self, mat1, mat2, beta=beta, alpha=alpha)


def resize_as_sparse_(self: Tensor, the_template: Any) -> Any:
    """Give a sparse tensor the size of another, which holds what there is."""
    for one in (self, the_template):
        if is_sparse(one) and one.layout is not layouts.sparse_coo:
            return resized_to(self, resized_as(self, the_template))
    return sparse_resize_(self, the_template.shape, sparse_dim(the_template), dense_dim(the_template))


def sparse_resize_(self: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Any:
    """Give a tensor of coordinates another size, which holds what there is."""
    from ._forms import sparse

    return resized_to(self, sparse(_coordinates(self, "sparse_resize_"), size))


def sparse_resize_and_clear_(self: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Any:
    """Give a tensor of coordinates another size, and no values."""
    return resized_to(self, nothing(tuple(size), self.dtype, sparse_dim))


def _resize(self: Any, *size: Any, memory_format: Any = None) -> Any:
    shape = size[0] if size and not isinstance(size[0], int) else size
    if self.layout is layouts.sparse_coo:
        raise NotImplementedError(
            "Could not run 'aten::resize_' with arguments from the 'SparseCPU' backend."
        )
    return resized_to(self, resized(self, shape))


known.update(resize_=_resize, resize_as_=resize_as_sparse_)


# By the names of the operators, too.
_to_sparse, _to_sparse_csr, _to_sparse_csc = to_sparse, to_sparse_csr, to_sparse_csc
_to_sparse_bsr, _to_sparse_bsc = to_sparse_bsr, to_sparse_bsc
