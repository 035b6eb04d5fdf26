"""A library for networks on other devices, which is not there. Its switches can be set."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Tell whether the library is there: never."""
    return False


def version() -> None:
    """Return the version of the library: there is none."""


def is_acceptable(tensor: Any) -> bool:
    """Tell whether the library would compute with a tensor: never."""
    return False


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Set the switches for a block.

    >>> import rushlight as torch
    >>> with torch.backends.cudnn.flags(enabled=True, deterministic=True):
    ...     torch.backends.cudnn.deterministic
    True
    """
    chosen = dict(locals())
    before = {name: globals()[name] for name in chosen}
    globals().update(chosen)
    try:
        yield
    finally:
        globals().update(before)
