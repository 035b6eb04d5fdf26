"""Matrices whose values lie line by line, single ones or blocks: from other layouts, and in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._functions.uniques import unique
from .._rushlight import Tensor
from ._forms import BY_ROWS, IN_BLOCKS, Pieces, in_words, is_sparse, words_of
from ._making import ToSparse, Values, coalesce, made, places_of, tiled

if TYPE_CHECKING:
    from collections.abc import Sequence


def to_compressed(
    tensor: Tensor,
    layout: Any,
    block: Sequence[int] | None = None,
    dense_dim: int | None = None,
    method: str = "to_sparse",
) -> Any:
    """Return a matrix, or several, in a compressed layout; `method` is who is named where that is refused."""
    _check(tensor, layout, block, dense_dim, method)
    if not is_sparse(tensor):
        return _of_dense(tensor, layout, block, dense_dim or 0)
    return tensor if tensor.layout is layout else rearranged(tensor, layout, block)


def _check(tensor: Any, layout: Any, block: Sequence[int] | None, dense_dim: int | None, method: str) -> None:
    """Refuse what cannot be converted, in torch's order."""
    who = _speaker(tensor, layout, method)
    pair = f"{who}: conversion from {in_words(tensor)} to {words_of(layout)}"
    pieces = tensor._pieces if is_sparse(tensor) else None
    if pieces and pieces.layout is layouts.sparse_coo and len(pieces.places) != 2:
        raise RuntimeError(f"{pair} for input tensors with sparse_dim()!=2 is not supported")
    if block is not None and len(block) != 2:
        raise RuntimeError(f"{who}: blocksize needs to be a tuple of size 2, but got {len(block)}")
    if block is not None and min(block) <= 0:
        raise RuntimeError(f"{who}: blocksize needs to be positive, but got {list(block)}")
    if (block is not None) != (layout in IN_BLOCKS):
        given = "without" if block is None else "with"
        raise RuntimeError(f"{pair} {given} blocksize argument given is not supported")
    if pieces:
        if dense_dim is not None:
            raise RuntimeError(f"{pair} with dense_dim argument given is not supported")
        _check_compressed(pieces, layout, block, pair)
    first = pieces.batches if pieces else _first_of_dense(tensor, layout, block, dense_dim, who)
    if block:
        height, width = tensor.shape[first : first + 2]
        if height % block[0] or width % block[1]:
            raise RuntimeError(
                f"{who}: tensor sparse size ({height},{width}) must be divisible by given blocksize "
                f"({block[0]},{block[1]})"
            )


def _speaker(tensor: Tensor, layout: Any, method: str) -> str:
    """Return what torch calls the conversion."""
    if not is_sparse(tensor):
        return f"dense_{method}"
    if tensor.layout is layout:
        return method
    if tensor.layout is not layouts.sparse_coo:
        return f"sparse_compressed_{method}"
    return f"sparse_coo_{method}" if method == "to_sparse" else f"coo_{method}"


def _check_compressed(pieces: Pieces, layout: Any, block: Sequence[int] | None, pair: str) -> None:
    if pieces.block and layout not in IN_BLOCKS:
        raise RuntimeError(
            f"sparse_compressed_to_{str(layout).removeprefix('torch.')}: expected SparseCsr or SparseCsc "
            f"layout but got {words_of(pieces.layout)}"
        )
    if block and pieces.block and tuple(block) != pieces.block:
        raise RuntimeError(
            f"{pair} with blocksize changed from {list(pieces.block)} to {list(block)} is not supported"
        )
    if block and pieces.batches and not pieces.block:
        raise RuntimeError(f"{pair} for batched inputs is not supported")


def _first_of_dense(
    tensor: Tensor, layout: Any, block: Sequence[int] | None, dense_dim: int | None, who: str
) -> int:
    """Return the dimension of the rows of a dense tensor."""
    count, inner = tensor.dim(), dense_dim or 0
    if dense_dim is not None and not block and not 0 <= dense_dim <= count - 2:
        raise RuntimeError(
            f"{who}: dense_dim argument must be in [0,{count - 2}] range, but {dense_dim} is given"
        )
    if count < 2 + inner:
        if layout is layouts.sparse_csr:
            size = [int(tensor.count_nonzero()), count]
            raise IndexError(f"select(): index 1 out of range for tensor of size {size} at dimension 1")
        wide = max(count, 1)
        raise IndexError(
            f"Dimension out of range (expected to be in range of [-{wide}, {wide - 1}], but got "
            f"{-2 - inner if block else 1})"
        )
    first = count - 2 - inner
    if 0 in tensor.shape[:first]:
        name = str(layout).removeprefix("torch.")
        raise RuntimeError(f"to_{name}: Expected product of batch dimensions to be non-zero.")
    return first


def _of_dense(tensor: Tensor, layout: Any, block: Sequence[int] | None, inner: int) -> Any:
    """Return the elements, or blocks, of dense matrices that are not zero."""
    first = tensor.dim() - 2 - inner
    tiles = tiled(tensor.detach(), first, block or ())
    there = tiles != 0
    rest = there.dim() - first - 2
    is_there = there.flatten(first + 2).any(-1) if rest else there
    is_there = is_there if layout in BY_ROWS else is_there.transpose(-1, -2)
    counts = is_there.sum((-2, -1)).reshape(-1)
    if bool((counts != counts[0]).any()):
        raise RuntimeError("Expect the same number of specified elements per batch.")
    across = is_there.nonzero()[:, -1]  # type: ignore[call-overload]
    count = int(counts[0])
    places = across.reshape(*is_there.shape[:first], count).contiguous()
    values = tiles.new_empty((*places.shape, *tiles.shape[first + 2 :]))
    return ToSparse.apply(tensor, Pieces(places, values, layout, _ends(is_there.sum(-1))))


def _ends(counts: Tensor) -> Tensor:
    """Return where lines begin and end that have so many values."""
    begin = native.zeros((*counts.shape[:-1], 1), dtype=native.int64)
    return native.cat([begin, counts.cumsum(-1)], -1)


def ends_of(lines: Tensor, count: int) -> Tensor:
    """Return where lines begin and end, of values in the order of lines."""
    return _ends(native.zeros(count, dtype=native.int64).index_add_(0, lines, native.ones_like(lines)))


def rearranged(tensor: Any, layout: Any, block: Sequence[int] | None = None) -> Any:
    """Return a sparse matrix, or several, with its values in the order of another layout."""
    kept = coalesce(tensor) if tensor.layout is layouts.sparse_coo else tensor
    pieces: Pieces = kept._pieces
    *batch, rows, columns = (one.to(native.int64) for one in places_of(pieces, tensor.shape))
    first, values = pieces.batches, Values.apply(kept)
    values = values.reshape(len(rows), *values.shape[pieces.values_from :])
    size = [*tensor.shape[first : first + 2]]
    if pieces.block:
        size = [length // one for length, one in zip(size, pieces.block, strict=True)]
    if block and not pieces.block:
        values, rows, columns = _gathered(values, rows, columns, size, block)
        size = [length // one for length, one in zip(size, block, strict=True)]
    lines, across = (rows, columns) if layout in BY_ROWS else (columns, rows)
    count, width = size if layout in BY_ROWS else size[::-1]
    samples = tensor.shape[:first]
    which = native.zeros_like(lines)
    for row, length in zip(batch, samples, strict=True):
        which = which * length + row
    order = native.argsort((which * count + lines) * max(width, 1) + across, stable=True)
    kind = native.int64 if pieces.ends is None else pieces.ends.dtype
    ends = ends_of_samples(which[order] * count + lines[order], samples, count)
    each = len(lines) // max(samples.numel(), 1) if first else len(lines)
    shape = (*samples, each) if first else (each,)
    values = values[order].reshape(*shape, *values.shape[1:])
    return made(
        values,
        Pieces(across[order].reshape(shape).to(kind), values.detach(), layout, ends.to(kind)),
        tensor.shape,
    )


def ends_of_samples(lines: Tensor, samples: Sequence[int], count: int) -> Tensor:
    """Return where lines of each sample begin and end; lines are counted through all samples."""
    total = count
    for length in samples:
        total *= length
    counts = native.zeros(total, dtype=native.int64).index_add_(0, lines, native.ones_like(lines))
    return _ends(counts.reshape(*samples, count))


def _gathered(
    values: Tensor, rows: Tensor, columns: Tensor, size: Sequence[int], block: Sequence[int]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the blocks that values are in, and their places."""
    (high, wide), across = block, size[1] // block[1]
    numbers, of_which = unique((rows // high) * across + columns // wide, return_inverse=True)
    empty = values.new_zeros((len(numbers), high, wide, *values.shape[1:]))
    blocks = empty.index_put((of_which, rows % high, columns % wide), values)
    return blocks, numbers // max(across, 1), numbers % max(across, 1)
