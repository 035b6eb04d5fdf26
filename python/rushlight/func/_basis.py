"""The standard basis of the elements of several tensors together, in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .._rushlight import Tensor


def standard_basis(tensors: Sequence[Tensor], chunk_size: int | None = None) -> Iterator[tuple[Tensor, ...]]:
    """Yield the unit vectors of all elements, `chunk_size` of them at a time.

    Each piece has, for every tensor, a tensor of its shape with a dimension for the vectors before it.
    """
    if not tensors:
        raise AssertionError("tensors must have at least one element")
    numels = [tensor.numel() for tensor in tensors]
    total = sum(numels)
    step = total if chunk_size is None else min(chunk_size, total)
    # Without any element there is still one piece, an empty one, which tells the shape of the result.
    for start in range(0, total, step) if total else [0]:
        count = min(step, total - start)
        pieces, before = [], 0
        for tensor, numel in zip(tensors, numels, strict=True):
            piece = tensor.new_zeros(count, numel)
            piece.diagonal(start - before).fill_(1)
            pieces.append(piece.view(count, *tensor.shape))
            before += numel
        yield tuple(pieces)
