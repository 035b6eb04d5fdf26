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


@shown_as_given
def _chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int, *, out: Tensor | None = None) -> Tensor:
    """Cut each tensor into chunks, filled up with zeros, and put those of one number side by side, in rows.

    >>> import rushlight as torch
    >>> torch._chunk_cat([torch.arange(3), torch.arange(2)], 0, 2)
    tensor([[0, 1, 0],
            [2, 0, 1]])
    """
    rows = []
    for tensor in tensors:
        size = -(-tensor.shape[dim] // num_chunks)
        wanted = list(tensor.shape)
        wanted[dim] = size * num_chunks - tensor.shape[dim]
        filled = native.cat([tensor, tensor.new_zeros(wanted)], dim)
        cut = list(tensor.shape[:dim])
        rows.append(filled.reshape(*cut, num_chunks, -1))
    return native._written("_chunk_cat", native.cat(rows, dim + 1), out)
