"""The distinct elements of tensors."""

from __future__ import annotations

from .. import _rushlight as native
from .._calls.arguments import require_tensors
from .._calls.showing import shown
from .._rushlight import Tensor

TYPE_CHECKING = False  # `typing` would take longer to import than all of this.
if TYPE_CHECKING:
    from typing import Any


__all__ = ["unique", "unique_consecutive"]

_FIRST_BIT = -(1 << 63)


def _groups(
    input: Tensor, dim: int | None, neighbours: bool, return_inverse: bool, return_counts: bool
) -> Any:
    is_large = input.dtype is native.uint64
    # These have no order of their own there: it is that of signed integers whose first bit is the other one.
    seen = input.view(native.int64) ^ _FIRST_BIT if is_large else input
    is_line = dim is None or (input.ndim == 1 and dim in (0, -1))
    if neighbours and is_line and not (return_inverse or return_counts or is_large):
        return native._nn.changes(input)
    values, inverse, counts = native._nn.unique_groups(seen, dim, neighbours)
    if is_large:
        values = (values ^ _FIRST_BIT).view(input.dtype)
    if return_inverse and return_counts:
        return values, inverse, counts
    if return_inverse:
        return values, inverse
    return (values, counts) if return_counts else values


@shown
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the unique elements of the input, or the unique slices along `dim`, in ascending order.

    >>> import rushlight as torch
    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    require_tensors("_unique2" if dim is None else "unique_dim", input=input)
    return _groups(input, dim, False, return_inverse, return_counts)


@shown
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Eliminate all but the first of every group of consecutive equal elements, or slices along `dim`.

    >>> import rushlight as torch
    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    require_tensors("unique_consecutive", input=input)
    return _groups(input, dim, True, return_inverse, return_counts)


METHODS = (
    unique,
    unique_consecutive,
)
