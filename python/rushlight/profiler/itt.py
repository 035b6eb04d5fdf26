"""Marks for a profiler of other tools, which is not there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from .._devices.absent import refusing

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFUSED = "mark range_push range_pop"
__all__ = ["is_available", *_REFUSED.split(), "range"]

_ABSENT = "ITT functions not installed. Are you sure you have a ITT build?"
refusing(globals(), _REFUSED, RuntimeError, _ABSENT)


def is_available() -> bool:
    """Tell whether such marks can be made: never."""
    return False


@contextmanager
def range(msg: str, *args: object, **kwargs: object) -> Iterator[None]:
    """Mark a block: an error when it begins."""
    raise RuntimeError(_ABSENT)
    yield
