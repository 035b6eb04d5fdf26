"""What classes that are shown operations use to look at their tensors without being shown that."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._compat import _C

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["all_same_mode", "no_dispatch"]


@contextmanager
def no_dispatch() -> Iterator[None]:
    """In the block, no class is shown operations on its tensors."""
    with _C._DisableTorchDispatch():
        yield


def all_same_mode(modes: Sequence[Any]) -> bool:
    """Return whether all of these are one mode."""
    return all(mode == modes[0] for mode in modes)
