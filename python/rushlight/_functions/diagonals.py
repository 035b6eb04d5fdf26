"""Diagonals and triangles of matrices, and matrices of powers."""

from __future__ import annotations

import builtins

from .. import _rushlight as native
from .._calls.showing import shown_as_given
from .._rushlight import Tensor
from .._tensors.typename import scalar_name

TYPE_CHECKING = False  # `typing` would take longer to import than all of this.
if TYPE_CHECKING:
    from typing import Any

    from .._rushlight import dtype as DType
    from ..types import Number

__all__ = ["diagflat", "tril_indices", "triu_indices", "vander"]


@shown_as_given
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Return zeros with the elements on a diagonal.

    >>> import rushlight as torch
    >>> torch.diagflat(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    return input.contiguous().view(-1).diag_embed(offset)


@shown_as_given
def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Set the elements whose indices are all the same; in a tall matrix again and again if `wrap`.

    >>> import rushlight as torch
    >>> torch.zeros(2, 2).fill_diagonal_(5)
    tensor([[5., 0.],
            [0., 5.]])
    """
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and any(size != self.shape[0] for size in self.shape):
        raise RuntimeError("all dimensions of input must be of equal length")
    least, stride = min(self.shape), sum(self.stride())
    self.as_strided((least,), (stride,)).fill_(fill_value)
    if wrap and self.dim() == 2 and self.shape[0] > self.shape[1] + 1:
        rows, columns = self.shape
        step = columns + 1
        for start in builtins.range(step, rows, step):
            part = self[start : start + columns]
            part.diagonal().fill_(fill_value)
    return self


def _triangle(name: str, row: int, col: int, offset: int, upper: bool, dtype: Any) -> Tensor:
    for side, size in (("row", row), ("col", col)):
        if size < 0:
            raise RuntimeError(f"{side} must be non-negative, got{size}")
    if dtype not in (None, native.int64, native.int32):
        kind_name = scalar_name(native.empty(0, dtype=dtype))
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind_name}'")
    places: Tensor = native._nn.triangle_indices(row, col, offset, upper)
    return places if dtype is None else places.to(dtype)


@shown_as_given
def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: DType | None = None, device: Any = None
) -> Tensor:
    """Return rows and columns of what is on or below a diagonal.

    >>> import rushlight as torch
    >>> torch.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _triangle("tril_indices", row, col, offset, False, dtype)


@shown_as_given
def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: DType | None = None, device: Any = None
) -> Tensor:
    """Return rows and columns of what is on or above a diagonal.

    >>> import rushlight as torch
    >>> torch.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    return _triangle("triu_indices", row, col, offset, True, dtype)


@shown_as_given
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the powers of every element, the highest first.

    >>> import rushlight as torch
    >>> torch.vander(torch.tensor([2, 3]), 3)
    tensor([[4, 2, 1],
            [9, 3, 1]])
    """
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = len(x) if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    powers = native.arange(count)
    return x.unsqueeze(-1) ** (powers if increasing else powers.flip(0))


METHODS = (
    diagflat,
    fill_diagonal_,
)
