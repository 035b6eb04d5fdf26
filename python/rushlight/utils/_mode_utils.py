"""What classes that are shown operations use to look at their tensors without being shown that."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from .._compat import _C

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["no_dispatch"]


@contextmanager
def no_dispatch() -> Iterator[None]:
    """In the block, no class is shown operations on its tensors."""
    with _C._DisableTorchDispatch():
        yield
