"""What has to hold of the pieces of a sparse tensor, and when it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._rushlight import Tensor
from .._tensors.typename import scalar_name
from ._forms import BY_ROWS, IN_BLOCKS, Pieces, flattened, words_of

__all__ = ["check_sparse_tensor_invariants"]


class check_sparse_tensor_invariants:
    """In the block, or from `enable` on, pieces of sparse tensors are checked when one is made of them.

    >>> import rushlight as torch
    >>> with torch.sparse.check_sparse_tensor_invariants():
    ...     torch.sparse.check_sparse_tensor_invariants.is_enabled()
    True
    """

    _state = False

    def __init__(self, enable: bool = True) -> None:
        self._wanted, self._before = enable, False

    @staticmethod
    def is_enabled() -> bool:
        """Tell whether pieces are checked."""
        return check_sparse_tensor_invariants._state

    @staticmethod
    def enable() -> None:
        """Have pieces checked."""
        check_sparse_tensor_invariants._state = True

    @staticmethod
    def disable() -> None:
        """Have pieces not checked."""
        check_sparse_tensor_invariants._state = False

    def __enter__(self) -> None:
        self._before = self.is_enabled()
        check_sparse_tensor_invariants._state = self._wanted

    def __exit__(self, *exception: object) -> None:
        check_sparse_tensor_invariants._state = self._before

    def __call__(self, function: Any) -> Any:
        """Return a function that runs in such a block."""
        from functools import wraps

        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self._wanted):
                return function(*args, **kwargs)

        return inside


def is_checked(wanted: bool | None) -> bool:
    """Tell whether pieces are checked, if a call wants so, or says nothing."""
    return check_sparse_tensor_invariants.is_enabled() if wanted is None else wanted


def check_pieces(tensor: Any) -> None:
    """Refuse places that a sparse tensor cannot have, where invariants are checked."""
    if not is_checked(None):
        return
    pieces = tensor._pieces
    if pieces.layout is layouts.sparse_coo:
        check_places(pieces.places, tensor.shape, pieces.is_coalesced)
    else:
        check_compressed(pieces, tensor.shape)


def check_coordinates(places: Tensor, values: Tensor, size: Sequence[int]) -> None:
    """Refuse coordinates and values that do not go together."""
    if places.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    count, inner = len(places), max(values.dim() - 1, 0)
    if len(size) != count + inner:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
            f"{count}, dense_dim = {inner}"
        )
    if list(values.shape[1:]) != list(size[count:]):
        raise RuntimeError(
            f"values has incorrect size, expected {[values.shape[0], *size[count:]]}, got "
            f"{list(values.shape)}"
        )


def check_places(places: Tensor, size: Sequence[int], is_coalesced: bool) -> None:
    """Refuse coordinates outside a size, and such that are said to be in order but are not."""
    for dim, row in enumerate(places if places.shape[1] else ()):
        low, high = int(row.min()), int(row.max())
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {dim}")
        if high >= size[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {size[dim]} but found index "
                f"{high}"
            )
    if is_coalesced:
        numbers = flattened(places, size[: len(places)])
        if bool((numbers[1:] <= numbers[:-1]).any()):
            raise RuntimeError(
                "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
            )


class _Words:
    """What rows and columns are called in messages about a layout."""

    def __init__(self, layout: Any) -> None:
        by_rows = layout in BY_ROWS
        self.ends = "crow_indices" if by_rows else "ccol_indices"
        self.places = "col_indices" if by_rows else "row_indices"
        self.lines = "row" if by_rows else "column"
        self.counts = ("nrows", "ncols") if by_rows else ("ncols", "nrows")
        self.plural = f"{self.lines} blocks" if layout in IN_BLOCKS else f"{self.lines}s"


def check_forms(ends: Tensor, places: Tensor, values: Tensor, layout: Any) -> None:
    """Refuse pieces of a compressed tensor whose dimensions do not go together."""
    word = _Words(layout)
    if not ends.dim():
        raise RuntimeError(f"{word.ends} must have dimensionality >= 1 but got 0")
    if ends.dim() != places.dim():
        raise RuntimeError(
            f"{word.ends} and {word.places} dimensionalities must be equal but got {ends.dim()} and "
            f"{places.dim()}, respectively"
        )
    inner = 2 if layout in IN_BLOCKS else 0
    if values.dim() <= ends.dim() - 1 + inner:
        raise RuntimeError(
            "values must have dimensionality > sum of batch and block dimensionalities "
            f"(={ends.dim() - 1} + {inner}) but got {values.dim()}"
        )


def check_compressed(pieces: Pieces, size: Sequence[int]) -> None:
    """Refuse pieces that a compressed tensor of a size cannot have, in torch's order."""
    word, values, places = _Words(pieces.layout), pieces.values, pieces.places
    ends: Any = pieces.ends
    for name, numbers in ((word.ends, ends), (word.places, places)):
        if numbers.dim() and numbers.shape[-1] > 1 and numbers.stride(-1) != 1:
            raise RuntimeError(f"expected {name} to be a contiguous tensor per batch")
    check_forms(ends, places, values, pieces.layout)
    first, inner = pieces.batches, pieces.dense_dims
    if len(size) != first + 2 + inner:
        raise RuntimeError(
            "tensor dimensionality must be sum of batch, base, and dense dimensionalities "
            f"(={first} + 2 + {inner}) but got {len(size)}"
        )
    batches = [list(one.shape[:first]) for one in (ends, places, values)]
    if any(batch != list(size[:first]) for batch in batches):
        raise RuntimeError(
            f"all batch dimensions of {word.ends} (={batches[0]}), {word.places} (={batches[1]}), and values "
            f"(={batches[2]}) must be equal to tensor batch dimensions (={list(size[:first])})"
        )
    counts = list(size[first : first + 2])
    for dim, length in enumerate(pieces.block):
        if counts[dim] % length:
            raise RuntimeError(
                f"tensor shape[{dim}] (={counts[dim]}) must be divisible with blocksize[{dim}] (={length}) "
                "as defined by values shape"
            )
        counts[dim] //= length
    lines, width = counts if pieces.layout in BY_ROWS else counts[::-1]
    if ends.shape[-1] != lines + 1:
        raise RuntimeError(
            f"{word.ends}.shape[-1] must be equal to the number of {word.plural} + 1 (={lines + 1}), but got "
            f"{ends.shape[-1]}"
        )
    count = values.shape[first]
    if places.shape[-1] != count:
        raise RuntimeError(
            f"{word.places}.shape[-1] must be equal to nnz (={count}) as defined by values.shape[{first}], "
            f"but got {places.shape[-1]}"
        )
    names = [scalar_name(one) for one in (ends, places)]
    if ends.dtype is not places.dtype:
        raise RuntimeError(
            f"{word.ends} and {word.places} must have the same dtype, bot got {names[0]} and {names[1]}, "
            "respectively"
        )
    if ends.dtype not in (native.int32, native.int64):
        raise RuntimeError(f"{word.ends} and {word.places} dtype must be Int or Long, but got {names[0]}")
    _check_numbers(pieces, word, width)


def _check_numbers(pieces: Pieces, word: _Words, width: int) -> None:
    ends: Any = pieces.ends
    places, (line, across) = pieces.places, word.counts
    if bool((ends[..., 0] != 0).any()):
        raise RuntimeError(f"`{word.ends}[..., 0] == 0` is not satisfied.")
    if bool((ends[..., -1] != places.shape[-1]).any()):
        raise RuntimeError(f"`{word.ends}[..., -1] == nnz` is not satisfied.")
    steps = ends[..., 1:] - ends[..., :-1]
    if bool(((steps < 0) | (steps > width)).any()):
        raise RuntimeError(
            f"`0 <= {word.ends}[..., 1:] - {word.ends}[..., :-1] <= {across}` is not satisfied."
        )
    if bool(((places < 0) | (places >= width)).any()):
        raise RuntimeError(f"`0 <= {word.places} < {across}` is not satisfied.")
    number = native.arange(steps.numel()).repeat_interleave(steps.reshape(-1))
    numbers = places.reshape(-1)
    if bool(((number[1:] == number[:-1]) & (numbers[1:] <= numbers[:-1])).any()):
        raise RuntimeError(
            f"`{word.places}[..., {word.ends}[..., i - 1]:{word.ends}[..., i]] for all i = 1, ..., {line} "
            "are sorted and distinct along the last dimension values` is not satisfied."
        )


def _validate_compressed_sparse_indices(
    is_crow: bool, compressed_idx: Tensor, plain_idx: Tensor, cdim: int, dim: int, nnz: int
) -> None:
    """Refuse what cannot say where lines begin and end, and where their values are."""
    layout = layouts.sparse_csr if is_crow else layouts.sparse_csc
    _check_numbers(Pieces(plain_idx, plain_idx, layout, compressed_idx), _Words(layout), dim)


def _validate_sparse_coo_tensor_args(
    indices: Tensor, values: Tensor, size: Sequence[int], is_coalesced: bool | None = None
) -> None:
    """Refuse what cannot be the pieces of a tensor of coordinates."""
    check_coordinates(indices, values, size)
    check_places(indices, size, bool(is_coalesced))


def _validate_sparse_compressed_tensor_args(
    compressed_indices: Tensor, plain_indices: Tensor, values: Tensor, size: Sequence[int], layout: Any
) -> None:
    """Refuse what cannot be the pieces of a tensor in a compressed layout."""
    if layout in (native.strided, layouts.sparse_coo):
        raise RuntimeError(
            "validate_sparse_compressed_tensor_args expected sparse compressed tensor layout but got "
            f"{words_of(layout)}"
        )
    check_compressed(Pieces(plain_indices, values, layout, compressed_indices), size)


def _validate_sparse_csr_tensor_args(
    crow_indices: Tensor, col_indices: Tensor, values: Tensor, size: Sequence[int]
) -> None:
    """Refuse what cannot be the pieces of a matrix whose values lie row by row."""
    check_compressed(Pieces(col_indices, values, layouts.sparse_csr, crow_indices), size)


def _validate_sparse_csc_tensor_args(
    ccol_indices: Tensor, row_indices: Tensor, values: Tensor, size: Sequence[int]
) -> None:
    """Refuse what cannot be the pieces of a matrix whose values lie column by column."""
    check_compressed(Pieces(row_indices, values, layouts.sparse_csc, ccol_indices), size)


def _validate_sparse_bsr_tensor_args(
    crow_indices: Tensor, col_indices: Tensor, values: Tensor, size: Sequence[int]
) -> None:
    """Refuse what cannot be the pieces of a matrix whose blocks lie row by row."""
    check_compressed(Pieces(col_indices, values, layouts.sparse_bsr, crow_indices), size)


def _validate_sparse_bsc_tensor_args(
    ccol_indices: Tensor, row_indices: Tensor, values: Tensor, size: Sequence[int]
) -> None:
    """Refuse what cannot be the pieces of a matrix whose blocks lie column by column."""
    check_compressed(Pieces(row_indices, values, layouts.sparse_bsc, ccol_indices), size)
