"""Registering callables in dictionaries; handles remove them again."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from ._rushlight import RemovableHandle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ._rushlight import Tensor


__all__ = ["HookDictionary", "RemovableHandle", "register"]


def register(hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
    """Add `hook` behind the others, or with `prepend` before them."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _written_back(name: str) -> Callable[..., Any]:
    change = getattr(OrderedDict, name)

    def changed(self: HookDictionary, *args: Any, **kwargs: Any) -> Any:
        result = change(self, *args, **kwargs)
        self._write_back()
        return result

    return changed


class HookDictionary(OrderedDict):  # type: ignore[type-arg]
    """The hooks of a tensor by number, as they are when one asks; what is changed here changes there."""

    def __init__(self, tensor: Tensor, attribute: str, hooks: Iterable[tuple[int, Any]]) -> None:
        self._place: tuple[Tensor, str] | None = None
        super().__init__(hooks)
        # The engine is told from now on, when all are in.
        self._place = tensor, attribute

    def _write_back(self) -> None:
        if self._place is not None:
            setattr(*self._place, self)

    __setitem__ = _written_back("__setitem__")
    __delitem__ = _written_back("__delitem__")
    clear = _written_back("clear")
    move_to_end = _written_back("move_to_end")
    pop = _written_back("pop")
    popitem = _written_back("popitem")
    setdefault = _written_back("setdefault")
    update = _written_back("update")

    def __reduce__(self) -> Any:
        return OrderedDict, (list(self.items()),)


HookDictionary.__name__ = HookDictionary.__qualname__ = "OrderedDict"  # As it is shown.
