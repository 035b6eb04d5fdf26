"""`sparse_coo_tensor` and its kin, and what is checked of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._rushlight import Tensor
from ._forms import BY_ROWS, IN_BLOCKS, Pieces
from ._making import made
from ._operators import nothing

__all__ = [
    "check_sparse_tensor_invariants",
    "sparse_bsc_tensor",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_coo_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor",
]


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


def _numbers(given: Any, dtype: Any = None) -> Tensor:
    if isinstance(given, Tensor):
        return given if dtype is None else given.to(dtype)
    return native.tensor(given, dtype=dtype)


def _is_checked(wanted: bool | None) -> bool:
    return check_sparse_tensor_invariants.is_enabled() if wanted is None else wanted


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
    count, inner = len(places), values.dim() - 1
    if size is None:
        if places.numel() and int(places.min()) < 0:
            low = places.amin(1).tolist()
            place = next(place for place, one in enumerate(low) if one < 0)
            raise RuntimeError(f"found negative index {low[place]} for dim {place}")
        far = (places.amax(1) + 1).tolist() if places.shape[1] else [0] * count
        size = [*far, *values.shape[1:]]
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
    if _is_checked(check_invariants):
        _check_places(places, size, bool(is_coalesced))
    # One element has nothing to be added to.
    pieces = Pieces(places, values.detach(), is_coalesced=bool(is_coalesced) or places.shape[-1] < 2)
    made_of = values.detach() if requires_grad else values
    result = made(made_of, pieces, size)
    return result.requires_grad_() if requires_grad else result  # type: ignore[no-any-return]


def check_pieces(tensor: Any) -> None:
    """Refuse places that a sparse tensor cannot have, where invariants are checked."""
    if not _is_checked(None):
        return
    pieces = tensor._pieces
    if pieces.layout is layouts.sparse_coo:
        _check_places(pieces.places, tensor.shape, pieces.is_coalesced)
    else:
        _check_compressed(pieces.layout, pieces.ends, pieces.places, tensor.shape)


def _check_places(places: Tensor, size: Sequence[int], is_coalesced: bool) -> None:
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
        from ._forms import flattened

        numbers = flattened(places, size[: len(places)])
        if bool((numbers[1:] <= numbers[:-1]).any()):
            raise RuntimeError(
                "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
            )


def _compressed(
    layout: Any, ends: Any, places: Any, values: Any, size: Sequence[int] | None, options: dict[str, Any]
) -> Tensor:
    checks, requires_grad = options.pop("check_invariants", None), options.pop("requires_grad", False)
    dtype = options.pop("dtype", None)
    ends, places, values = _numbers(ends), _numbers(places), _numbers(values, dtype)
    along = ends.shape[-1] - 1
    block = values.shape[places.dim() : places.dim() + 2] if layout in IN_BLOCKS else (1, 1)
    if size is None:
        across = int(places.max()) + 1 if places.numel() else 0
        lines, others = (along, across) if layout in BY_ROWS else (across, along)
        size = [*ends.shape[:-1], lines * block[0], others * block[1]]
    if _is_checked(checks):
        _check_compressed(layout, ends, places, size)
    pieces = Pieces(places, values.detach(), layout, ends)
    result = made(values.detach() if requires_grad else values, pieces, size)
    return result.requires_grad_() if requires_grad else result  # type: ignore[no-any-return]


def _check_compressed(layout: Any, ends: Tensor, places: Tensor, size: Sequence[int]) -> None:
    (first, one), (second, other) = ("crow", "rows"), ("col", "cols")
    length, width = size[-2:]
    if layout not in BY_ROWS:
        first, one, second, other, length, width = "ccol", "columns", "row", "rows", width, length
    if ends.shape[-1] != length + 1:
        raise RuntimeError(
            f"{first}_indices.shape[-1] must be equal to the number of {one} + 1 (={length + 1}), but got "
            f"{ends.shape[-1]}"
        )
    if bool((ends[..., 0] != 0).any()):
        raise RuntimeError(f"`{first}_indices[..., 0] == 0` is not satisfied.")
    if bool((ends[..., -1] != places.shape[-1]).any()):
        raise RuntimeError(f"`{first}_indices[..., -1] == nnz` is not satisfied.")
    steps = ends[..., 1:] - ends[..., :-1]
    if bool(((steps < 0) | (steps > width)).any()):
        raise RuntimeError(
            f"`0 <= {first}_indices[..., 1:] - {first}_indices[..., :-1] <= n{other}` is not satisfied."
        )
    if bool(((places < 0) | (places >= width)).any()):
        raise RuntimeError(f"`0 <= {second}_indices < n{other}` is not satisfied.")
    if ends.dim() == 1:
        lines = native.repeat_interleave(native.arange(length), steps)
        if bool(((lines[1:] == lines[:-1]) & (places[1:] <= places[:-1])).any()):
            raise RuntimeError(
                f"`{second}_indices[..., {first}_indices[..., i - 1]:{first}_indices[..., i]] for all i = 1, "
                f"..., n{one} are sorted and distinct along the last dimension values` is not satisfied."
            )


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
        raise RuntimeError("expected layout for sparse compressed tensor")
    return _compressed(layout, compressed_indices, plain_indices, values, size, options)
