"""Functions by torch's inner names that read and write by indices, or put pieces together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _rushlight as native
from .._calls.showing import shown_as_given
from .._rushlight import Tensor

__all__: list[str] = []


def _within(tensor: Tensor, indices: Sequence[Tensor | None]) -> list[Any]:
    """Return indices of which none is outside."""
    return [
        slice(None) if index is None else index.clamp(-size, size - 1)
        for index, size in zip(indices, tensor.shape, strict=False)
    ]


@shown_as_given
def _unsafe_masked_index(self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: Any) -> Tensor:
    """Return the elements at some places where a mask allows it, and `fill` where it does not.

    >>> import rushlight as torch
    >>> there = torch.tensor([True, False])
    >>> torch._unsafe_masked_index(torch.arange(3), there, [torch.tensor([2, 9])], -1)
    tensor([ 2, -1])
    """
    return self[tuple(_within(self, indices))].masked_fill(~mask, fill)


@shown_as_given
def _unsafe_masked_index_put_accumulate(
    self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Tensor:
    """Return a tensor with values added at some places, where a mask allows it."""
    return native.index_put(
        self, tuple(_within(self, indices)), values.masked_fill(~mask, 0), accumulate=True
    )


def _checked_pieces(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> int:
    """Refuse what cannot be cut and put together; return the dimension counted from the first."""
    if num_chunks < 1:
        raise RuntimeError("_chunk_cat expects positive num_chunks")
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    for tensor in tensors:
        if tensor.numel() == 0:
            raise RuntimeError("_chunk_cat expects non-empty tensor")
        if tensor.dtype is not tensors[0].dtype:
            raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
    least = min(tensor.dim() for tensor in tensors)
    if least == max(tensor.dim() for tensor in tensors):
        most = max(least, 1)
        if not -most <= dim < most:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {dim})"
            )
        dim %= most
    elif dim < 0:
        raise RuntimeError("_chunk_cat expects non-negative dim when input tensors have different ndims")
    if dim >= least:
        raise RuntimeError("_chunk_cat expects dim < ndim for all input tensors")
    if any(tensor.shape[:dim] != tensors[0].shape[:dim] for tensor in tensors):
        raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
    return dim


@shown_as_given
def _chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int, *, out: Tensor | None = None) -> Tensor:
    """Cut each tensor into chunks, filled up with zeros, and put those of one number side by side, in rows.

    >>> import rushlight as torch
    >>> torch._chunk_cat([torch.arange(3), torch.arange(2)], 0, 2)
    tensor([[0, 1, 0],
            [2, 0, 1]])
    """
    dim = _checked_pieces(tensors, dim, num_chunks)
    rows = []
    for tensor in tensors:
        size = -(-tensor.shape[dim] // num_chunks)
        wanted = list(tensor.shape)
        wanted[dim] = size * num_chunks - tensor.shape[dim]
        filled = native.cat([tensor, tensor.new_zeros(wanted)], dim)
        cut = list(tensor.shape[:dim])
        rows.append(filled.reshape(*cut, num_chunks, -1))
    return native._written("_chunk_cat", native.cat(rows, dim + 1), out)
