"""Registering callables in dictionaries; handles remove them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._rushlight import RemovableHandle

if TYPE_CHECKING:
    from collections import OrderedDict


__all__ = ["RemovableHandle", "register"]


def register(hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
    """Add `hook` behind the others, or with `prepend` before them."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
