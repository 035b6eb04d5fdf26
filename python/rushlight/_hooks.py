"""Registering callables and removing them again."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from collections import OrderedDict

    from typing_extensions import Self

_next_id = count()


class RemovableHandle:
    """Takes a registered hook out again: by `remove()`, or at the end of a `with` block."""

    def __init__(self, hooks: OrderedDict[int, Any]) -> None:
        self.id = next(_next_id)
        self._hooks = ref(hooks)

    def remove(self) -> None:
        """Remove the hook; nothing happens if it is gone already."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def register(hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
    """Add `hook` behind the others, or with `prepend` before them."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
