"""What a compiled function does besides computing, which is done when its program has run: Note [Effects]."""

from __future__ import annotations

import contextlib
import sys
import types
from collections import OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING, Any

from .._rushlight import Size, Tensor, device, dtype
from ..nn import Module
from .rewriting import Made, make
from .sight import containers, look, names_of
from .waiting import DONE, NUMBER, Place, Position
from .watch import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Callable

    from .sight import Sight

# Note [Effects]
# ----
# `losses.append(loss.item())` in a step changes what the step sees, and does it otherwise each time. If
# nothing else that runs in the step sees that list, it makes no difference that it is appended to when all
# else is done. So what is recorded is a function without such statements (`rewriting`), which returns the
# numbers that they need beside its result; what is left of each statement is called with these. Statements
# qualify by what they consist of (`waiting`): they cannot fail for some numbers and not for others. Here it
# is made sure, before every run, that they write to nothing that was seen while the function was looked at.

_SIMPLE = (int, float, bool, complex, str, type(None), Size, dtype, device)
_ITEMS = (list, dict, OrderedDict, defaultdict)
_ELEMENTS = (list, set, deque)
_SETTING: tuple[Any, ...] = (object.__setattr__, Module.__setattr__)
_GETTING: Any = object.__getattribute__
_REFLECTING = frozenset({"__dict__", "getattr", "setattr", "vars", "hasattr", "delattr"})


def number(value: Any) -> Any:
    """Return the number that a tensor without dimensions has; anything else as it is."""
    return value.item() if isinstance(value, Tensor) and value.dim() == 0 else value


class _Unknown(Exception):
    """A place is not what it has to be."""


class Effects:
    """A function that returns what its statements need that wait, and what is left of these."""

    def __init__(self, function: Any, made: Made, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        plain = _plain(function)
        self._made = made
        self._scope = plain.__globals__
        self._cells = dict(zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True))
        own = self._function_of(made.code, plain.__defaults__)
        own.__kwdefaults__ = {**(plain.__kwdefaults__ or {}), NUMBER: number}
        own.__qualname__, own.__module__ = plain.__qualname__, plain.__module__
        self.function = types.MethodType(own, function.__self__) if plain is not function else own
        self._effects = [self._function_of(statement.code) for statement in made.statements]
        given = (*([function.__self__] if plain is not function else []), *args)
        names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
        self._parameters = {**dict(zip(names, given, strict=False)), **kwargs}
        self._arguments = list(containers((*args, *kwargs.values())))
        self._seen: dict[int, Any] = {}
        self._checks: list[Callable[[], bool]] = []
        self.apart: dict[int, set[str]] = {}

    def _function_of(self, code: types.CodeType, defaults: Any = None) -> types.FunctionType:
        cells = tuple(self._cells[name] for name in code.co_freevars)
        return types.FunctionType(code, self._scope, code.co_name, defaults, cells)

    @property
    def code(self) -> types.CodeType:
        """The code of the function that is recorded."""
        return self._made.code

    def do(self, done: Any) -> None:
        """Do what is left of statements."""
        for place, *arguments in done:
            self._effects[int(place)](*arguments)

    def finish(self, answer: Any) -> Any:
        """Return what the function itself would return, having done the rest."""
        result, done = answer
        self.do(done)
        return result

    def finish_failed(self, error: BaseException, told: Callable[[Any], Any]) -> None:
        """Do the rest of what was done before it failed: `told` knows the numbers."""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code is self.code:
                self.do(told(trace.tb_frame.f_locals.get(DONE, ())))
            trace = trace.tb_next

    def failed_early(self, error: BaseException) -> frozenset[Position]:
        """Return the statement in whose place it failed: more is calculated there than the statement does."""
        trace, line = error.__traceback__, 0
        while trace is not None:
            frame = trace.tb_frame
            line = trace.tb_lineno if frame.f_code is self.code else line * (frame.f_code is number.__code__)
            trace = trace.tb_next
        return frozenset(one.at for one in self._made.statements if line in one.lines)

    def is_ready(self) -> bool:
        """Tell whether what is written to is of the same kind as it was, and seen by nobody else."""
        try:
            return all(check() for check in self._checks)
        except _Unknown:
            return False

    def unknown(self, named: set[str]) -> frozenset[Position]:
        """Find out what statements write to; return which of them write to something unusual.

        Variables and attributes of these names are seen by the rest of the function.
        """
        found = set()
        for statement in self._made.statements:
            try:
                for place in statement.places:
                    if place.kind == "object":
                        self._set_apart(place, named)
                    else:
                        self._checks.append(self._check(place))
            except _Unknown:
                found.add(statement.at)
        return frozenset(found)

    def _set_apart(self, place: Place, named: set[str]) -> None:
        """Say that an attribute is not looked at, if nobody but a last statement does anything with it."""
        with contextlib.suppress(_Unknown):
            if place.key not in named and named.isdisjoint(_REFLECTING):
                self._is_apart(self._find(place), place.key)

    def _find(self, place: Place) -> Any:
        """Return what a path leads to."""
        try:
            if place.scope == "global":
                found = self._scope[place.root]
            elif place.scope == "free":
                found = self._cells[place.root].cell_contents
            else:
                found = self._parameters[place.root]
            for kind, name in place.path:
                found = vars(found)[name] if kind == "attribute" else _items(found)[name]
        except (KeyError, IndexError, TypeError, ValueError):
            raise _Unknown from None
        return found

    def _check(self, place: Place) -> Callable[[], bool]:
        """Return what tells whether a place is as it has to be; say which attributes are not looked at."""
        last = [name for kind, name in place.path if kind == "attribute"][-1:]
        if place.kind != "attribute" and last:
            steps = [kind for kind, _ in place.path]
            owner = self._find(
                place._replace(path=place.path[: len(steps) - 1 - steps[::-1].index("attribute")])
            )
            self._is_apart(owner, last[0])
        if place.kind == "name":
            return self._check_name(place)
        found = self._find(place)
        if place.kind == "attribute":
            self._is_apart(found, place.key)
            held = self._kind_of(place, vars(found))
            return lambda: (
                self._find(place) is found
                and (self._kind_of(place, vars(found)) is held or not place.is_read)
            )
        kind = type(found)
        if kind not in (_ITEMS if place.kind == "item" else _ELEMENTS):
            raise _Unknown
        if any(type(argument) is kind for argument in self._arguments):
            raise _Unknown
        kept = None if place.kind == "elements" else self._kind_of(place, found)

        def is_known() -> bool:
            now = self._find(place)
            if type(now) is not kind or id(now) in self._seen:
                return False
            return kept is None or self._kind_of(place, now) is kept or not place.is_read

        return is_known

    def _check_name(self, place: Place) -> Callable[[], bool]:
        if not place.is_read:
            return lambda: True
        kind = type(self._find(place))
        if kind not in _SIMPLE:
            raise _Unknown
        return lambda: type(self._find(place)) is kind

    def _kind_of(self, place: Place, holder: Any) -> type:
        """Return the class of an attribute or item."""
        try:
            kind = type(holder[place.key])
        except (KeyError, IndexError, TypeError):
            raise _Unknown from None
        if place.is_read and kind not in _SIMPLE:
            raise _Unknown
        return kind

    def _is_apart(self, owner: Any, name: Any) -> None:
        """Say that an attribute is not looked at, if it is nothing but an entry of a dictionary."""
        kind = type(owner)
        is_plain = (
            not isinstance(owner, (type, types.ModuleType, Tensor))
            and all(map(_is_of_the_program, kind.__mro__))
            and any(kind.__setattr__ is one for one in _SETTING)
            and getattr(kind, "__getattribute__") is _GETTING  # noqa: B009
            and type(getattr(owner, "__dict__", None)) is dict
            and name in vars(owner)
            and not hasattr(getattr(kind, name, None), "__get__")
            and not (isinstance(owner, Module) and (name in vars(Module()) or hasattr(Module, name)))
        )
        if not is_plain:
            raise _Unknown
        self.apart.setdefault(id(vars(owner)), set()).add(name)

    def seen(self, sight: Sight) -> frozenset[Position]:
        """Return which statements write to something that the rest of the function sees."""
        self._seen = sight.seen
        entries = {(id(check[1]), check[2]) for check in sight.checks if check[0] == "entry"}
        cells = {id(check[1]) for check in sight.checks if check[0] == "attribute"}
        reflects = not _REFLECTING.isdisjoint({*sight.attributes, *(name for _, name in entries)})

        def is_seen(place: Place) -> bool:
            if place.kind == "name" and place.scope == "global":
                return (id(self._scope), place.root) in entries
            if place.kind == "object":
                return False
            if place.kind == "name":
                return id(self._cells[place.root]) in cells
            names = [name for kind, name in (*place.path, (place.kind, place.key)) if kind == "attribute"]
            if names and (reflects or names[-1] in sight.attributes):
                return True
            return place.kind != "attribute" and id(self._find(place)) in sight.seen

        statements = self._made.statements
        return frozenset(one.at for one in statements if any(map(is_seen, one.places)))

    def wrong(self, done: Any) -> frozenset[Position]:
        """Return which statements were given something else than numbers to calculate with."""
        found = set()
        for place, *arguments in done:
            statement = self._made.statements[int(place)]
            for calculates, argument in zip(statement.calculates, arguments, strict=True):
                is_outside = id(argument) in self._seen and isinstance(argument, (list, dict))
                if is_outside or (calculates and type(argument) not in _SIMPLE):
                    found.add(statement.at)
        return frozenset(found)


def _plain(function: Any) -> Any:
    return getattr(function, "__func__", function)


def _is_of_the_program(kind: type) -> bool:
    """Tell whether nobody knows the attributes of a class but the program that has it."""
    if kind in Module.__mro__:
        return True
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    return not kind.__module__.startswith("rushlight") and not file.startswith(LIBRARY)


def _items(holder: Any) -> Any:
    if type(holder) not in _ITEMS:
        raise _Unknown
    return holder


def effects_of(
    function: Any,
    call: tuple[tuple[Any, ...], dict[str, Any]],
    codes: dict[types.CodeType, dict[str, Any]],
    unclear: set[frozenset[tuple[types.CodeType, int]]],
    left: frozenset[Position],
) -> tuple[Effects, Sight] | None:
    """Return the effects of a call that can wait, and what the rest of it sees; None if there are none.

    `unclear` says where something else is done than computed, `left` which statements cannot wait.
    """
    plain = _plain(function)
    if not isinstance(plain, types.FunctionType):
        return None
    codes = {code: scope for code, scope in codes.items() if code is not plain.__code__}
    while made := make(plain.__code__, plain.__globals__, left):
        lines = {(plain.__code__, line) for statement in made.statements for line in statement.lines}
        if any(lines.isdisjoint(stack) for stack in unclear):
            return None
        effects = Effects(function, made, *call)
        named = {name for code in (*codes, made.code) for names in names_of(code) for name in names}
        wrong = effects.unknown(named)
        if not wrong:
            sight = look((effects.function, *call), codes, effects.apart)
            wrong = effects.seen(sight)
            if not wrong:
                sight.checks.append(("said", effects.is_ready))
                return effects, sight
        left |= wrong
    return None
