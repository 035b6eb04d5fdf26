"""Functions that are recorded as one call, and how they are exchanged while something is traced."""

from __future__ import annotations

import builtins
import functools
import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .node import map_aggregate
from .proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Patcher", "patching", "wrap"]

# The globals of a module, and the name in it of a function that is recorded as one call.
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}
_wrapped_methods_to_patch: list[tuple[type, str]] = []


def wrap(fn_or_name: Any) -> Any:
    """Say, at the level of a module, that calls of a function are recorded as they are.

    >>> import rushlight as torch
    >>> @torch.fx.wrap
    ... def clipped(x, limit):
    ...     return x if x.sum() < limit else x / 2
    >>> traced = torch.fx.symbolic_trace(lambda x: clipped(x, 3) + 1)
    >>> [node.name for node in traced.graph.nodes]
    ['x', 'clipped', 'add', 'output']
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe()
    caller = frame.f_back if frame is not None else None
    if caller is None or caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name


def _proxy_in(*objects: Any) -> Proxy | None:
    found: list[Proxy] = []

    def look(one: Any) -> Any:
        if isinstance(one, Proxy):
            found.append(one)
        return one

    map_aggregate(objects, look)
    return found[0] if found else None


def recorded_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is recorded if it is given what stands for a value, and called otherwise."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _proxy_in(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    return wrapped


def recorded_method(cls: type, name: str) -> Callable[..., Any]:
    """Return a method that is recorded if it is given what stands for a value, and called otherwise."""
    method = getattr(cls, name)

    @functools.wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _proxy_in(args, kwargs)
        if proxy is None:
            return method(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


class Patcher:
    """What was exchanged, and has to be put back."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self.visited: set[int] = set()

    def item(self, names: dict[str, Any], name: str, value: Any) -> None:
        """Exchange what a dictionary has."""
        if name in names:
            before = names[name]
            self._undo.append(lambda: names.__setitem__(name, before))
        else:
            self._undo.append(lambda: names.__delitem__(name))
        names[name] = value

    def method(self, cls: type, name: str, value: Any) -> None:
        """Exchange a method of a class."""
        if name in vars(cls):
            before = vars(cls)[name]
            self._undo.append(lambda: setattr(cls, name, before))
        else:
            self._undo.append(lambda: delattr(cls, name))
        setattr(cls, name, value)

    def functions_among(self, names: dict[str, Any], wanted: set[int]) -> None:
        """Exchange functions that a module has, if they are to be recorded as they are."""
        if id(names) in self.visited:
            return
        self.visited.add(id(names))
        for name, value in list(names.items()):
            if not name.startswith("_") and callable(value) and id(value) in wanted:
                self.item(names, name, recorded_function(value))

    def wrapped(self) -> None:
        """Exchange everything that `wrap` was told of."""
        for (_, name), names in list(_wrapped_fns_to_patch.items()):
            function = names.get(name, getattr(builtins, name, None))
            # Its module may have forgotten it since.
            if function is not None:
                self.item(names, name, recorded_function(function))
        for cls, name in _wrapped_methods_to_patch:
            self.method(cls, name, recorded_method(cls, name))

    def undo(self) -> None:
        """Put everything back."""
        while self._undo:
            self._undo.pop()()


@contextmanager
def patching() -> Iterator[Patcher]:
    """Return, for a block, who exchanges functions, and puts them back at its end."""
    patcher = Patcher()
    try:
        yield patcher
    finally:
        patcher.undo()
