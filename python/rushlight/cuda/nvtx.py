"""Marks for the profiler of CUDA devices, which is not there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from .._devices.absent import refusing

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFUSED = "mark range_push range_pop range_start range_end"
__all__ = [*_REFUSED.split(), "range"]

_ABSENT = "NVTX functions not installed. Are you sure you have a CUDA build?"
refusing(globals(), _REFUSED, RuntimeError, _ABSENT)


@contextmanager
def range(msg: str, *args: object, **kwargs: object) -> Iterator[None]:
    """Mark a block: an error when it begins."""
    raise RuntimeError(_ABSENT)
    yield
