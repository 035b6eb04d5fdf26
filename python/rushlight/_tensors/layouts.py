"""In which order the dimensions of a tensor lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._rushlight import _memory_order, channels_last
from .._rushlight import memory_format as MemoryFormat

if TYPE_CHECKING:
    from .._rushlight import Tensor

_UNKNOWN = "The ambiguity_check argument must be a bool or a list of memory formats."
_REPEATED = "The tensor does not have unique dim order."
_SEVERAL = (
    "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
)


def dim_order(self: Tensor, *, ambiguity_check: bool | list[MemoryFormat] = False) -> tuple[int, ...]:
    """Return the dimensions in the order in which they lie in memory, the outermost first.

    Dimensions of size one and equal strides leave several orders. With `ambiguity_check` that is refused, or,
    if it is a list of formats, unless exactly one of them fits.

    >>> import rushlight as torch
    >>> torch.empty(2, 3, 5).transpose(1, 2).dim_order()
    (0, 2, 1)
    """
    formats = [] if isinstance(ambiguity_check, bool) else ambiguity_check
    if not isinstance(formats, list) or not all(isinstance(one, MemoryFormat) for one in formats):
        raise TypeError(_UNKNOWN)
    if ambiguity_check:
        _check_unique(self, formats)
    in_rows = self.is_contiguous()
    by_channels = self.ndim == 4 and self.is_contiguous(memory_format=channels_last)
    if in_rows != by_channels:
        return tuple(range(self.ndim)) if in_rows else (0, 2, 3, 1)
    return _memory_order(self)


def _check_unique(tensor: Tensor, formats: list[MemoryFormat]) -> None:
    strides = tensor.stride()
    if 0 in strides:
        raise RuntimeError(_REPEATED)
    repeats = len(set(strides)) < len(strides)
    if repeats or 1 in tensor.shape:
        if sum(tensor.is_contiguous(memory_format=one) for one in formats) != 1:
            raise RuntimeError(_SEVERAL)
        if repeats:
            raise RuntimeError(_REPEATED)
