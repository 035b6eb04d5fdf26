"""The library by which CUDA devices speak to each other, which is not there."""

from __future__ import annotations

from typing import Any

from .._devices.absent import refusing

_REFUSED = "version init_rank unique_id all_reduce reduce broadcast all_gather reduce_scatter"
__all__ = [*_REFUSED.split(), "is_available"]

refusing(globals(), _REFUSED, AssertionError, "NCCL is not there: the library is not compiled with CUDA")


def is_available(tensors: Any) -> bool:
    """Tell whether these tensors could be sent by it: no."""
    return False
