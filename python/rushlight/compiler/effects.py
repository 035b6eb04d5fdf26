"""What a compiled function does besides computing, which is done when its program has run: Note [Effects]."""

from __future__ import annotations

import contextlib
import sys
import types
from collections import deque
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from .._rushlight import Size, Tensor, device, dtype
from ..nn import Module
from .around import ITEMS, Around, Unknown, number
from .counting import Asked, Number, begin
from .rewriting import At, Made, Maker
from .sight import containers, look, names_of
from .waiting import DONE
from .watch import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .counting import Count
    from .rewriting import Statement
    from .sight import Sight
    from .waiting import Place

# Note [Effects]
# ----
# `losses.append(loss.item())` in a step changes what the step sees, and does it otherwise each time. If
# nothing else that runs in the step sees that list, it makes no difference that it is appended to when all
# else is done. So what is recorded is a function without such statements (`rewriting`), which returns the
# numbers that they need beside its result; what is left of each statement is called with these. Statements
# qualify by what they consist of (`waiting`): they cannot fail for some numbers and not for others. Here it
# is made sure, before every run, that they write to nothing that was seen while the function was looked at.
#
# Where that does not do, functions that are called by name, methods and modules are made others, too: all
# add to one list, and what they return is what it was.

_SIMPLE = (int, float, bool, complex, str, type(None), Size, dtype, device)
_ELEMENTS = (list, set, deque)
_SETTING: tuple[Any, ...] = (object.__setattr__, Module.__setattr__)
_GETTING: Any = object.__getattribute__
_REFLECTING = frozenset({"__dict__", "getattr", "setattr", "vars", "hasattr", "delattr"})


class Effects:
    """A function that returns what its statements need that wait, and what is left of these."""

    def __init__(self, function: Any, made: Made, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        is_method = isinstance(function, types.MethodType)
        self._made = made
        self.function = types.MethodType(made.function, function.__self__) if is_method else made.function
        self._effects = {name: one.around.function_of(one.code) for name, one in made.statements.items()}
        self._arguments = list(containers((*args, *kwargs.values())))
        self._seen: dict[int, Any] = {}
        self._checks: list[Callable[[], bool]] = []
        self._asked = Asked()
        self.apart: dict[int, set[str]] = {}

    @property
    def codes(self) -> dict[types.CodeType, types.CodeType]:
        """Of the code of functions that are called when it is recorded, what that is made of."""
        return self._made.codes

    def begin(self, asks: bool) -> None:
        """Have the function that comes now look at what is counted; what it asks may be taken note of."""
        values = {name: count.value() for name, count in self._made.counts.items()}
        if asks:
            self._asked = Asked()
            values = {name: Number(self._asked, value, itemgetter(name)) for name, value in values.items()}
        begin(values)

    def used_otherwise(self) -> frozenset[At]:
        """Return statements that count what was asked something that cannot be asked again."""
        return frozenset() if self._asked.is_known else self.counting

    @property
    def counting(self) -> frozenset[At]:
        """The statements that count what branches look at."""
        return frozenset(at for count in self._made.counts.values() for at in count.statements)

    def do(self, done: Any) -> None:
        """Do what is left of statements."""
        for name, *arguments in done:
            self._effects[name](*arguments)

    def finish(self, answer: Any) -> Any:
        """Return what the function itself would return, having done the rest."""
        result, done = answer
        self.do(done)
        return result

    def finish_failed(self, error: BaseException, told: Callable[[Any], Any]) -> None:
        """Do the rest of what was done before it failed: `told` knows the numbers."""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code is self._made.function.__code__:
                self.do(told(trace.tb_frame.f_locals.get(DONE, ())))
            trace = trace.tb_next

    def failed_early(self, error: BaseException) -> frozenset[At]:
        """Return the statement in whose place it failed: more is calculated there than the statement does."""
        trace, code, line = error.__traceback__, None, 0
        while trace is not None:
            if trace.tb_frame.f_code is not number.__code__:
                code, line = trace.tb_frame.f_code, trace.tb_lineno
            trace = trace.tb_next
        return frozenset(one.at for one in self._statements if one.within is code and line in one.lines)

    def do_early(self, frame: types.FrameType, told: Callable[[Any], Any]) -> None:
        """Do what waits before a function is run as it is that is another one elsewhere."""
        if frame.f_code not in self._made.codes.values():
            return
        outer = frame.f_back
        while outer is not None and outer.f_code is not self._made.function.__code__:
            outer = outer.f_back
        if outer is not None:
            waiting = outer.f_locals.get(DONE, [])
            done = told(tuple(waiting))
            waiting.clear()
            self.do(done)

    def misplaced(self, ran: Iterable[types.CodeType]) -> frozenset[At]:
        """Return statements of functions that ran as they are, too, so that some of it was done meanwhile."""
        return frozenset(one.at for one in self._statements if one.at[0] in ran)

    @property
    def _statements(self) -> Iterable[Statement]:
        return self._made.statements.values()

    def is_ready(self) -> bool:
        """Tell whether what is written to is of the same kind as it was, and seen by nobody else."""
        try:
            return all(check() for check in self._checks) and self._answers_alike()
        except Unknown:
            return False

    def _answers_alike(self) -> bool:
        """Tell whether branches on what is counted are what they were."""
        if not self._asked.answers:
            return True
        values = {name: count.value() for name, count in self._made.counts.items()}
        if any(type(value) is not int for value in values.values()):
            return False
        try:
            return all(bool(of(values)) is answer for of, answer in self._asked.answers)
        except ArithmeticError:
            return False

    def unknown(self, named: set[str]) -> frozenset[At]:
        """Find out what statements write to; return which of them write to something unusual.

        Variables and attributes of these names are seen by the rest of the function.
        """
        found = set()
        for statement in self._statements:
            try:
                for place in statement.places:
                    if place.kind == "object":
                        self._set_apart(statement.around, place, named)
                    else:
                        self._checks.append(self._check(statement.around, place))
            except Unknown:
                found.add(statement.at)
        for count in self._made.counts.values():
            with contextlib.suppress(Unknown, KeyError):
                if type(count.value()) is int and not self._is_counted_elsewhere(count):
                    continue
            found.update(count.statements)
        return frozenset(found)

    def _is_counted_elsewhere(self, count: Count) -> bool:
        """Tell whether statements of another function, or of another name, have to do with a count."""
        where, (code, _) = count.around.where(count.place), count.statements[0]
        for statement in self._statements:
            for place in statement.places:
                is_it = place.kind in ("name", "attribute") and statement.around.where(place) == where
                is_known = place[1:5] == count.place[1:5] and statement.at[0] is code
                if is_it and not is_known:
                    return True
        return False

    def _set_apart(self, around: Around, place: Place, named: set[str]) -> None:
        """Say that an attribute is not looked at, if nobody but a last statement does anything with it."""
        with contextlib.suppress(Unknown):
            if place.key not in named and named.isdisjoint(_REFLECTING):
                self._is_apart(around.find(place), place.key)

    def _check(self, around: Around, place: Place) -> Callable[[], bool]:
        """Return what tells whether a place is as it has to be; say which attributes are not looked at."""
        last = [name for kind, name in place.path if kind == "attribute"][-1:]
        if place.kind != "attribute" and last:
            steps = [kind for kind, _ in place.path]
            owner = around.find(
                place._replace(path=place.path[: len(steps) - 1 - steps[::-1].index("attribute")])
            )
            self._is_apart(owner, last[0])
        if place.kind == "name":
            return self._check_name(around, place)
        found = around.find(place)
        if place.kind == "attribute":
            self._is_apart(found, place.key)
            held = self._kind_of(place, vars(found))
            return lambda: (
                around.find(place) is found
                and (self._kind_of(place, vars(found)) is held or not place.is_read)
            )
        kind = type(found)
        if kind not in (ITEMS if place.kind == "item" else _ELEMENTS):
            raise Unknown
        if any(type(argument) is kind for argument in self._arguments):
            raise Unknown
        kept = None if place.kind == "elements" else self._kind_of(place, found)

        def is_known() -> bool:
            now = around.find(place)
            if type(now) is not kind or id(now) in self._seen:
                return False
            return kept is None or self._kind_of(place, now) is kept or not place.is_read

        return is_known

    def _check_name(self, around: Around, place: Place) -> Callable[[], bool]:
        if not place.is_read:
            return lambda: True
        kind = type(around.find(place))
        if kind not in _SIMPLE:
            raise Unknown
        return lambda: type(around.find(place)) is kind

    def _kind_of(self, place: Place, holder: Any) -> type:
        """Return the class of an attribute or item."""
        try:
            kind = type(holder[place.key])
        except (KeyError, IndexError, TypeError):
            raise Unknown from None
        if place.is_read and kind not in _SIMPLE:
            raise Unknown
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
            raise Unknown
        self.apart.setdefault(id(vars(owner)), set()).add(name)

    def seen(self, sight: Sight) -> frozenset[At]:
        """Return which statements write to something that the rest of the function sees."""
        self._seen = sight.seen
        entries = {(id(check[1]), check[2]) for check in sight.checks if check[0] == "entry"}
        cells = {id(check[1]) for check in sight.checks if check[0] == "attribute"}
        reflects = not _REFLECTING.isdisjoint({*sight.attributes, *(name for _, name in entries)})

        def is_seen(around: Around, place: Place) -> bool:
            if place.kind == "name" and place.scope == "global":
                return (id(around.scope), place.root) in entries
            if place.kind == "object":
                return False
            if place.kind == "name":
                return id(around.cells[place.root]) in cells
            names = [name for kind, name in (*place.path, (place.kind, place.key)) if kind == "attribute"]
            if names and (reflects or names[-1] in sight.attributes):
                return True
            return place.kind != "attribute" and id(around.find(place)) in sight.seen

        return frozenset(
            one.at for one in self._statements if any(is_seen(one.around, place) for place in one.places)
        )

    def wrong(self, done: Any) -> frozenset[At]:
        """Return which statements were given something else than numbers to calculate with."""
        found = set()
        for name, *arguments in done:
            statement = self._made.statements[name]
            for calculates, argument in zip(statement.calculates, arguments, strict=True):
                is_outside = id(argument) in self._seen and isinstance(argument, (list, dict))
                if is_outside or (calculates and type(argument) not in _SIMPLE):
                    found.add(statement.at)
        return frozenset(found)


def _is_of_the_program(kind: type) -> bool:
    """Tell whether nobody knows the attributes of a class but the program that has it."""
    if kind in Module.__mro__:
        return True
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    return not kind.__module__.startswith("rushlight") and not file.startswith(LIBRARY)


def effects_of(
    function: Any,
    call: tuple[tuple[Any, ...], dict[str, Any]],
    codes: dict[types.CodeType, dict[str, Any]],
    unclear: set[frozenset[tuple[types.CodeType, int]]],
    left: frozenset[At],
    deep: bool,
) -> tuple[Effects, Sight] | None:
    """Return the effects of a call that can wait, and what the rest of it sees; None if there are none.

    `unclear` says where something else is done than computed, `left` which statements cannot wait; `deep`
    is for statements of functions that are called as well.
    """
    plain = getattr(function, "__func__", function)
    if not isinstance(plain, types.FunctionType):
        return None
    given = (*([function.__self__] if plain is not function else []), *call[0])
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    around = Around(plain, {**dict(zip(names, given, strict=False)), **call[1]})
    while made := Maker([*codes, plain.__code__], left, deep).make(plain, around):
        lines = {(one.at[0], line) for one in made.statements.values() for line in one.lines}
        if any(lines.isdisjoint(stack) for stack in unclear):
            return None
        effects = Effects(function, made, *call)
        replaced = frozenset(made.codes.values())
        others = {code: scope for code, scope in codes.items() if code not in replaced}
        own = (*others, *made.codes)
        wrong = effects.unknown({name for code in own for names in names_of(code) for name in names})
        if not wrong:
            sight = look((effects.function, *call), others, effects.apart, replaced)
            wrong = effects.seen(sight)
            if not wrong:
                sight.checks.extend(made.checks)
                sight.checks.append(("said", effects.is_ready))
                return effects, sight
        left |= wrong
    return None
