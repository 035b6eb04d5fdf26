"""Products of many matrices, multiplied in the order that costs least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _rushlight as native
from .._calls.showing import shown_as_given, shown_to
from .._messages.formatting import name_in_c
from .._rushlight import Tensor
from .._warn_once import warn_once

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["chain_matmul", "multi_dot"]

_CHAIN = (
    "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
    "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than multiple "
    "parameters."
)


@shown_to("matrices")
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Return the product of several matrices."""
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    warn_once(_CHAIN)
    for matrix in matrices:
        if matrix.dim() != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.dim()}, expected 2 instead.")
    found = matrices[0].clone() if len(matrices) == 1 else multi_dot(matrices)
    return native._written("chain_matmul", found, out)


@shown_as_given
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Return the product of several matrices, of which the first and the last may be vectors.

    >>> import rushlight as torch
    >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 1), torch.ones(1, 2)])
    tensor([[3., 3.],
            [3., 3.]])
    """
    found = native._nn.linalg_multi_dot(tensors)
    if out is None:
        return found
    from ..linalg._results import written

    names = [name_in_c(tensor.dtype) for tensor in (found, out)]
    refusal = f"multi_dot(): expected out tensor to have dtype {names[0]} but got {names[1]}"
    return written(found, out, refusal, "mm")
