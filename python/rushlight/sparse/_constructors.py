"""`sparse_coo_tensor` and its kin, and what is checked of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._rushlight import Tensor
from ._forms import BY_ROWS, Pieces, words_of
from ._invariants import check_compressed, check_coordinates, check_forms, check_places, is_checked
from ._making import made
from ._operators import nothing

__all__ = [
    "sparse_bsc_tensor",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_coo_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor",
]


def _numbers(given: Any, dtype: Any = None) -> Tensor:
    if isinstance(given, Tensor):
        return given if dtype is None else given.to(dtype)
    return native.tensor(given, dtype=dtype)


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """Return a tensor of values in places: each column of `indices` is one.

    >>> import rushlight as torch
    >>> torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    if device is not None and native.device(device).type == "meta":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    if device is not None:
        native.empty(0, device=device)
    if values is None:
        shape = indices if size is None else size
        kind = dtype or native.get_default_dtype()
        return nothing(tuple(shape), kind, len(shape)).requires_grad_(requires_grad)  # type: ignore[no-any-return]
    values, places = _numbers(values, dtype), _numbers(indices).to(native.int64)
    if places.dim() != 2:
        raise RuntimeError(
            f"indices must be sparse_dim x nnz, but got: {list(places.shape)}".replace("Size", "")
        )
    if values.dim() == 0:
        values = values.expand(places.shape[1])
    if places.shape[1] != values.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {places.shape[1]}, nnz from "
            f"values: {values.shape[0]}"
        )
    count = len(places)
    if size is None:
        if places.numel() and int(places.min()) < 0:
            low = places.amin(1).tolist()
            place = next(place for place, one in enumerate(low) if one < 0)
            raise RuntimeError(f"found negative index {low[place]} for dim {place}")
        far = (places.amax(1) + 1).tolist() if places.shape[1] else [0] * count
        size = [*far, *values.shape[1:]]
    check_coordinates(places, values, size)
    if is_checked(check_invariants):
        check_places(places, size, bool(is_coalesced))
    # One element has nothing to be added to.
    pieces = Pieces(places, values.detach(), is_coalesced=bool(is_coalesced) or places.shape[-1] < 2)
    made_of = values.detach() if requires_grad else values
    result = made(made_of, pieces, size)
    return result.requires_grad_() if requires_grad else result  # type: ignore[no-any-return]


def _compressed(
    layout: Any, ends: Any, places: Any, values: Any, size: Sequence[int] | None, options: dict[str, Any]
) -> Tensor:
    checks, requires_grad = options.pop("check_invariants", None), options.pop("requires_grad", False)
    dtype = options.pop("dtype", None)
    ends, places, values = _numbers(ends), _numbers(places), _numbers(values, dtype)
    pieces = Pieces(places, values.detach(), layout, ends)
    check_forms(ends, places, values, layout)
    if size is None:
        size = _estimated(pieces)
    if is_checked(checks):
        check_compressed(pieces, size)
    result = made(values.detach() if requires_grad else values, pieces, size)
    return result.requires_grad_() if requires_grad else result  # type: ignore[no-any-return]


def _estimated(pieces: Pieces) -> Sequence[int]:
    """Return the size of what has such pieces, if it is not larger than need be."""
    ends: Any = pieces.ends
    first = pieces.batches
    along = ends.shape[-1] - 1
    across = int(pieces.places.max()) + 1 if pieces.places.numel() else 0
    counts = [along, across] if pieces.layout in BY_ROWS else [across, along]
    counts = [count * length for count, length in zip(counts, pieces.block or (1, 1), strict=True)]
    inner = pieces.values.shape[pieces.values_from + len(pieces.block) :]
    return [*ends.shape[:first], *counts, *inner]


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Sequence[int] | None = None, **options: Any
) -> Tensor:
    """Return a matrix whose values lie row by row: `crow_indices` says where rows begin and end.

    >>> import rushlight as torch
    >>> torch.sparse_csr_tensor([0, 1, 2], [1, 0], [3.0, 4.0]).to_dense()
    tensor([[0., 3.],
            [4., 0.]])
    """
    return _compressed(layouts.sparse_csr, crow_indices, col_indices, values, size, options)


def sparse_csc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Sequence[int] | None = None, **options: Any
) -> Tensor:
    """Return a matrix whose values lie column by column: `ccol_indices` says where columns begin and end."""
    return _compressed(layouts.sparse_csc, ccol_indices, row_indices, values, size, options)


def sparse_bsr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Sequence[int] | None = None, **options: Any
) -> Tensor:
    """Return a matrix whose values are blocks that lie row by row."""
    return _compressed(layouts.sparse_bsr, crow_indices, col_indices, values, size, options)


def sparse_bsc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Sequence[int] | None = None, **options: Any
) -> Tensor:
    """Return a matrix whose values are blocks that lie column by column."""
    return _compressed(layouts.sparse_bsc, ccol_indices, row_indices, values, size, options)


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    layout: Any = None,
    **options: Any,
) -> Tensor:
    """Return a matrix in the layout that is named."""
    if layout is None or layout in (native.strided, layouts.sparse_coo):
        words = "none" if layout is None else words_of(layout)
        raise RuntimeError(
            f"sparse_compressed_tensor expected sparse compressed tensor layout but got {words}"
        )
    return _compressed(layout, compressed_indices, plain_indices, values, size, options)
