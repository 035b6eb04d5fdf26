"""What a function has around it, where statements of it wait: Note [Effects]."""

from __future__ import annotations

import types
from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from .._rushlight import Tensor
from ..nn import Module
from ..nn.modules._calling import Called
from ..nn.modules._every import EVERY
from .watch import is_library, is_own

if TYPE_CHECKING:
    from .waiting import Path, Place

ITEMS = (list, dict, OrderedDict, defaultdict)
_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_hooks", "_backward_pre_hooks")


class Unknown(Exception):
    """A place is not what it has to be."""


class Callee(NamedTuple):
    """A function that is called, and what it is called of."""

    function: types.FunctionType
    owner: Any
    is_method: bool
    """Whether it is called as a method; a module is called as it is."""


class Around:
    """Variables of the module and from around a function, and parameters, as far as they are known."""

    def __init__(self, function: types.FunctionType, parameters: dict[str, Any]) -> None:
        self.scope = function.__globals__
        self.cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        self.parameters = parameters
        self._function = function

    def function_of(self, code: types.CodeType, named: dict[str, Any] | None = None) -> types.FunctionType:
        """Return a function of code that was made of this one's; with what is named, one in its place."""
        cells = tuple(self.cells[name] for name in code.co_freevars)
        made = types.FunctionType(code, self.scope, code.co_name, None, cells)
        if named is not None:
            made.__defaults__ = self._function.__defaults__
            made.__kwdefaults__ = {**(self._function.__kwdefaults__ or {}), **named}
            made.__qualname__, made.__module__ = self._function.__qualname__, self._function.__module__
        return made

    def find(self, place: Path | Place) -> Any:
        """Return what a path leads to."""
        try:
            if place.scope == "global":
                found = self.scope[place.root]
            elif place.scope == "free":
                found = self.cells[place.root].cell_contents
            else:
                found = self.parameters[place.root]
            for kind, name in place.path:
                found = _attributes(found, name)[name] if kind == "attribute" else items(found)[name]
        except (KeyError, IndexError, TypeError, ValueError):
            raise Unknown from None
        return found

    def where(self, place: Place) -> tuple[int, object]:
        """Return where a variable or an attribute is kept, and under which key."""
        if place.kind == "attribute":
            return id(vars(self.find(place))), place.key
        if place.scope == "global":
            return id(self.scope), place.root
        return id(self.cells[place.root]), None

    def called(self, path: Path) -> Callee | None:
        """Return the function of the program that is called by a path, if that can be said."""
        try:
            found = self.find(path)
            if isinstance(found, Module):
                return _forward(found)
            is_named = not path.path and path.scope != "parameter"
            if is_named and isinstance(found, types.FunctionType) and _is_of_the_program(found):
                return Callee(found, None, False)
        except Unknown:
            pass
        if not path.path or path.path[-1][0] != "attribute":
            return None
        try:
            owner, name = self.find(path._replace(path=path.path[:-1])), path.path[-1][1]
        except Unknown:
            return None
        function = _method(owner, name)
        return None if function is None else Callee(function, owner, True)

    def checks(self, path: Path, function: types.FunctionType) -> list[tuple[Any, ...]]:
        """Return what says that a variable is still that function."""
        if path.path:
            return []
        if path.scope == "global":
            return [("entry", self.scope, path.root, function)]
        return [("attribute", self.cells[path.root], "cell_contents", function)]


def items(holder: Any) -> Any:
    """Return what has items that nobody computes."""
    if type(holder) not in ITEMS:
        raise Unknown
    return holder


def number(value: Any) -> Any:
    """Return the number that a tensor without dimensions has; anything else as it is."""
    return value.item() if isinstance(value, Tensor) and value.dim() == 0 else value


def _attributes(owner: Any, name: Any) -> Any:
    """Return where an object keeps an attribute."""
    is_within = isinstance(owner, Module) and name in owner._modules
    return owner._modules if is_within else vars(owner)


def _is_of_the_program(function: types.FunctionType) -> bool:
    return not (is_own(function.__code__) or is_library(function.__code__))


def _method(owner: Any, name: Any) -> types.FunctionType | None:
    """Return the method of a class, if that is what an object has under a name."""
    kind = type(owner)
    if isinstance(owner, (type, types.ModuleType, Tensor)) or name in getattr(owner, "__dict__", {name}):
        return None
    if getattr(kind, "__getattribute__") is not object.__getattribute__:  # noqa: B009
        return None
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    is_it = isinstance(found, types.FunctionType) and _is_of_the_program(found)
    return found if is_it else None


def _forward(module: Module) -> Callee | None:
    """Return what calling a module without hooks is."""
    has_usual_call = type(module).__call__ is Called.__call__
    if not has_usual_call or any(getattr(one, name) for one in (module, EVERY) for name in _HOOKS):
        return None
    function = _method(module, "forward")
    return None if function is None else Callee(function, module, False)
