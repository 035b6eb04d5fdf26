"""Classes and functions that files may name though they are read with `weights_only`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from .. import serialization
from .._rushlight import device
from .checkpoints import ADDED

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

__all__: list[str] = []

DEFAULT_PROTOCOL = 2
MAP_LOCATION = Any
FILE_LIKE = Any
if TYPE_CHECKING:
    MAP_LOCATION = Callable[[Any, str], Any] | device | str | dict[str, str] | None  # type: ignore[misc]
    FILE_LIKE = str | os.PathLike[str] | IO[bytes]  # type: ignore[misc]


def _key(item: Any) -> tuple[tuple[str, str], Any]:
    """Return by which module and name a file calls something."""
    value, path = item if isinstance(item, tuple) else (item, f"{item.__module__}.{item.__qualname__}")
    module, _, name = path.rpartition(".")
    return (module, name), value


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let files name classes and functions, or what is called by a path in pairs of both.

    >>> import rushlight as torch
    >>> from collections import deque
    >>> torch.serialization.add_safe_globals([deque])
    >>> torch.serialization.get_safe_globals()
    [<class 'collections.deque'>]
    >>> torch.serialization.clear_safe_globals()
    """
    for item in safe_globals:
        key, value = _key(item)
        if key not in serialization._SAFE:
            ADDED[key] = serialization._SAFE[key] = value


def get_safe_globals() -> list[Any]:
    """Return what was added."""
    return list(ADDED.values())


def clear_safe_globals() -> None:
    """Take out what was added."""
    for key in ADDED:
        serialization._SAFE.pop(key, None)
    ADDED.clear()


@contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """Let files name something in a block."""
    before = dict(ADDED)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        for key in ADDED.keys() - before.keys():
            serialization._SAFE.pop(key, None)
            del ADDED[key]
