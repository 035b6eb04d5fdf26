"""Matrices in compressed layouts without values, parts of them, and other readings: beneath the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from ._forms import BY_ROWS, IN_BLOCKS, Pieces, in_words, is_sparse, sparse, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_SWAPPED = {
    layouts.sparse_csr: layouts.sparse_csc,
    layouts.sparse_csc: layouts.sparse_csr,
    layouts.sparse_bsr: layouts.sparse_bsc,
    layouts.sparse_bsc: layouts.sparse_bsr,
}


def without_values(
    size: Sequence[int],
    layout: Any,
    dtype: Any,
    block: Sequence[int] = (),
    dense_dim: int = 0,
    index_dtype: Any = native.int64,
    nnz: int = 0,
) -> Any:
    """Return a matrix, or several, with places for so many values, of which nothing has been said."""
    speaker = "sparse_compressed_tensor_with_dims"
    if layout in IN_BLOCKS and len(block) != 2:
        raise RuntimeError(f"{speaker}: blocksize needs to be a tuple of size 2, but got {len(block)}")
    if block and layout not in IN_BLOCKS:
        raise RuntimeError(
            f"{speaker}: blocksize cannot be specified for non-block layout {words_of(layout)}"
        )
    first = len(size) - 2 - dense_dim
    batch, inner = size[:first], size[first + 2 :]
    line = 0 if layout in BY_ROWS else 1
    count = size[first + line] // (block[line] if block else 1)
    ends = native.zeros((*batch, count + 1), dtype=index_dtype)
    places = native.zeros((*batch, nnz), dtype=index_dtype)
    values = native.zeros((*batch, nnz, *block, *inner), dtype=dtype)
    return sparse(Pieces(places, values, layout, ends), size)


def made_of_nothing(size: Sequence[int], layout: Any, dtype: Any, maker: str) -> Any:
    """Return matrices without values, as `torch.empty` or `torch.zeros` make them."""
    if len(size) < 2:
        raise RuntimeError(
            f"torch.{maker}: Only batched sparse compressed (non-block) tensors are supported, but got size "
            f"{list(size)}"
        )
    if layout in IN_BLOCKS:
        raise RuntimeError(
            f"{maker}_sparse_compressed expected sparse compressed (non-block) tensor layout but got "
            f"{words_of(layout)}"
        )
    return without_values(size, layout, dtype)


def selected(tensor: Any, dim: int, index: int) -> Any:
    """Return one of several matrices, or a part of each value: pieces and the size of the rest."""
    pieces: Pieces = tensor._pieces
    size = [*tensor.shape[:dim], *tensor.shape[dim + 1 :]]
    if dim < pieces.batches:
        ends: Any = pieces.ends
        parts = replace(
            pieces,
            ends=ends.select(dim, index),
            places=pieces.places.select(dim, index),
            values=pieces.values.select(dim, index),
        )
    else:
        along = dim - tensor.dim() + pieces.values.dim()
        parts = replace(pieces, values=pieces.values.select(along, index))
    return sparse(parts, size)


def exchanged(tensor: Any, one: int, other: int) -> Any:
    """Return the matrices with two dimensions exchanged: two of samples, or rows and columns."""
    pieces: Pieces = tensor._pieces
    first = pieces.batches
    if pieces.dense_dims:
        raise RuntimeError(
            "transpose(): hybrid sparse compressed tensors with dense dimensions are not supported"
        )
    kinds = ["Batch" if dim < first else "Sparse" for dim in (one, other)]
    if kinds[0] != kinds[1]:
        raise RuntimeError(
            "transpose(): can only transpose dimensions of the same type (Batch, Sparse, Dense), got "
            f"{one}({kinds[0]}) and {other}({kinds[1]})"
        )
    size = [*tensor.shape]
    size[one], size[other] = size[other], size[one]
    if kinds[0] == "Batch":
        ends: Any = pieces.ends
        moved = [part.transpose(one, other) for part in (ends, pieces.places, pieces.values)]
        return sparse(replace(pieces, ends=moved[0], places=moved[1], values=moved[2]), size)
    values = pieces.values.transpose(-1, -2) if pieces.block else pieces.values
    return sparse(replace(pieces, values=values, layout=_SWAPPED[pieces.layout]), size)


def resized(tensor: Any, size: Sequence[int]) -> Any:
    """Return matrices of another size: the values that there are fill it, and what is new has none."""
    pieces: Pieces = tensor._pieces
    first = pieces.batches
    if len(size) < 2:
        raise RuntimeError(
            f"torch.resize_: Only batched sparse CSR matrices are supported, but got size {list(size)}"
        )
    if size[-1] < tensor.shape[first + 1]:
        raise RuntimeError(
            "torch.resize_: Resizing columns of sparse CSR tensors to a smaller value is not supported. The "
            f"original number of columns is {tensor.shape[first + 1]} while the requested new number of "
            f"columns is {size[-1]}."
        )
    batch = size[:-2]
    total = 1
    for length in batch:
        total *= length
    room = total * size[-2] * size[-1]
    kept = min(pieces.places.shape[-1], room)
    ends: Any = pieces.ends
    ends = _prolonged(ends, (*batch, size[-2] + 1))
    places = _prolonged(pieces.places, (*batch, kept))
    values = _prolonged(pieces.values, (*batch, kept))
    return sparse(replace(pieces, ends=ends.clamp(max=kept), places=places, values=values), size)


def _prolonged(numbers: Any, shape: Sequence[int]) -> Any:
    """Return numbers in another shape, in their order, the last repeated where there are more."""
    flat = numbers.reshape(-1)
    total = 1
    for length in shape:
        total *= length
    more = total - len(flat)
    if more > 0:
        last = flat[-1:] if len(flat) else flat.new_zeros(1)
        flat = native.cat([flat, last.expand(more)])
    return flat[:total].reshape(tuple(shape))


def resized_as(tensor: Any, other: Any) -> Any:
    """Return matrices with the places of others; values are as many, what there is in front."""
    name = "resize_as_sparse_compressed_"
    for word, one in (("self", tensor), ("src", other)):
        if not is_sparse(one) or one.layout is layouts.sparse_coo:
            raise RuntimeError(
                f"{name}: {word}  expected sparse compressed tensor layout but got {in_words(one)}"
            )
    if tensor.layout is not other.layout:
        raise RuntimeError(
            "resize_as_sparse_compressed_tensor_: self and src must have the same layout, but got: self "
            f"({in_words(tensor)}) and source ({in_words(other)})"
        )
    pieces, form = tensor._pieces, other._pieces
    return sparse(
        replace(
            pieces,
            ends=form.ends.to(pieces.ends.dtype, copy=True),
            places=form.places.to(pieces.places.dtype, copy=True),
            values=_prolonged(pieces.values, form.values.shape),
        ),
        other.shape,
    )


def check_copied(tensor: Any, other: Any) -> None:
    """Refuse a copy to or from a compressed layout whose form is another."""
    if not is_sparse(tensor) or tensor.layout is layouts.sparse_coo:
        raise RuntimeError(
            f"copy_sparse_compressed_ expected sparse compressed tensor layout but got {in_words(tensor)}"
        )
    if tensor.layout is not other.layout:
        raise RuntimeError(
            "torch.copy_: copy of sparse compressed tensors having different layouts is not supported. self "
            f"layout is {in_words(tensor)} and src layout is {in_words(other)}"
        )
    one, two = tensor._pieces, other._pieces
    if one.places.shape[-1] != two.places.shape[-1]:
        raise RuntimeError(
            "torch.copy_: only sparse compressed tensors with the same number of specified elements are "
            "supported."
        )
    for dim, (own, given) in enumerate(zip(tensor.shape, other.shape, strict=True)):
        if own != given:
            raise RuntimeError(
                "torch.copy_: expected shapes of self and src to match along dimension "
                f"{dim} for {in_words(tensor)} layout but the corresponding dimensions of self and src are "
                f"{own} and {given}, respectively."
            )
    if one.block != two.block:
        raise RuntimeError(
            "torch.copy_: copy of sparse compressed tensors having different block sizes is not supported. "
            f"self and src block sizes are {list(one.block)} and {list(two.block)}, respectively."
        )
