"""Rows that are looked up by number, and numbers as rows."""

from __future__ import annotations

from ... import _rushlight as native
from ..._calls.showing import shown, shown_as_given
from ..._rushlight import Tensor

__all__ = [
    "embedding",
    "one_hot",
]


@shown
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return the rows of `weight` that `input` names.

    >>> import rushlight as torch
    >>> torch.nn.functional.embedding(torch.tensor([1, 0]), torch.tensor([[1.0], [2.0]]))
    tensor([[2.],
            [1.]])
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.shape[0]
        # A number in a tensor of bytes is compared with those of its sign only.
        within = padding_idx < rows if padding_idx > 0 else not padding_idx < 0 or padding_idx >= -rows
        assert within, "Padding_idx must be within num_embeddings"
        padding_idx = rows + padding_idx if padding_idx < 0 else padding_idx
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    if sparse and weight.requires_grad:
        from ...sparse import embedding as with_sparse_gradient

        return with_sparse_gradient(weight, input, padding_idx, scale_grad_by_freq)
    return native.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _shorten(weight: Tensor, input: Tensor, most: float, order: float) -> None:
    """Scale the rows that are named and longer than `most` down to it, in place."""
    table = weight.detach()
    if native._is_batchedtensor(table) or native._is_batchedtensor(input):
        # Which rows are named differs between samples: all are looked at.
        named = input.reshape(-1, 1).eq(native.arange(len(table))).any(0)
        lengths = table.norm(order, 1)
        scale = native.where(named & (lengths > most), most / (lengths + 1e-7), 1.0)
        table.mul_(scale.unsqueeze(1))
        return
    for row in sorted(set(input.flatten().tolist())):
        length = table[row].norm(order).item()
        if length > most:
            table[row] *= most / (length + 1e-7)


@shown_as_given
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Return rows of zeros with a one at the class.

    >>> import rushlight as torch
    >>> torch.nn.functional.one_hot(torch.tensor([1, 0]))
    tensor([[0, 1],
            [1, 0]])
    """
    if input.dtype is not native.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    input = native._alike_in_all(input)
    if native._is_batchedtensor(input):
        if num_classes <= 0:
            raise RuntimeError(
                "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes "
                "argument."
            )
        return input.unsqueeze(-1).eq(native.arange(num_classes)).to(native.int64)
    if input.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return native.zeros((*input.shape, num_classes), dtype=native.int64)
    least, most = native.aminmax(input)
    if least.item() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(most.item()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif most.item() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    zeros = native.zeros((*input.shape, num_classes), dtype=native.int64)
    return zeros.scatter_(-1, input.unsqueeze(-1), 1)
