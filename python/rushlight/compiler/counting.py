"""Numbers that a function counts up and that only its branches look at: `if self.turns % 2 == 0`.

The count itself is done when the program has run: Note [Effects]. Where the function looks, it looks at a
number of its own, which takes note of what is asked of it while a call is recorded: the same questions are
asked of the count before each run, and have to have the same answers.
"""

from __future__ import annotations

import ast
import operator
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from .waiting import Position, position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .around import Around
    from .waiting import Finder, Parts, Place

COUNTED = "rushlight_counted"
COUNT = "rushlight_count_"
_MOST_STEPS = 32
_ASKING = (ast.BoolOp, ast.UnaryOp, ast.Compare, ast.BinOp)
_ASKED = (ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.FloorDiv, ast.And, ast.Or, ast.Not, ast.USub)

_values = threading.local()


class Count(NamedTuple):
    """A number that is counted, and the statements that do."""

    place: Place
    around: Around
    statements: tuple[Any, ...]

    def value(self) -> Any:
        """Return what it is now."""
        found = self.around.find(self.place)
        return found if self.place.kind == "name" else vars(found)[self.place.key]


def counted(key: str) -> Any:
    """Return what a count is when a call begins."""
    return _values.all[key]


def begin(values: dict[str, Any]) -> None:
    """Say what the counts of the call are that comes now."""
    _values.all = values


class Asked:
    """What was asked of counts in a call, and the answers."""

    def __init__(self) -> None:
        self.answers: list[tuple[Callable[[dict[str, int]], Any], bool]] = []
        self.is_known = True
        """Whether nothing else was done with them."""


class Number:
    """A count, or what is calculated of some, that takes note of what it is asked."""

    def __init__(self, asked: Asked, value: Any, of: Callable[[dict[str, int]], Any], steps: int = 0) -> None:
        self._asked = asked
        self._value = value
        self._of = of
        self._steps = steps

    def __bool__(self) -> bool:
        self._asked.answers.append((self._of, bool(self._value)))
        return bool(self._value)

    def _with(self, function: Callable[[Any, Any], Any], other: Any, swap: bool = False) -> Any:
        steps, value, of = self._steps + 1, other, None
        if isinstance(other, Number):
            steps, value, of = max(steps, other._steps + 1), other._value, other._of
        operands = (value, self._value) if swap else (self._value, value)
        answer = function(*operands)
        if (of is None and type(value) not in (int, bool)) or steps > _MOST_STEPS:
            self._asked.is_known = False
            return answer
        own, constant = self._of, value

        def again(counts: dict[str, int]) -> Any:
            first, second = own(counts), constant if of is None else of(counts)
            return function(second, first) if swap else function(first, second)

        return Number(self._asked, answer, again, steps)

    def __neg__(self) -> Any:
        return Number(self._asked, 0, lambda counts: 0)._with(operator.sub, self)

    __hash__ = None  # type: ignore[assignment]


def _operation(name: str, function: Callable[[Any, Any], Any], swap: bool) -> None:
    setattr(Number, name, lambda self, other: self._with(function, other, swap))


for _name in ("add", "sub", "mul", "mod", "floordiv"):
    _operation(f"__{_name}__", getattr(operator, _name), swap=False)
    _operation(f"__r{_name}__", getattr(operator, _name), swap=True)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _operation(f"__{_name}__", getattr(operator, _name), swap=False)


def counts_in(
    finder: Finder, node: ast.FunctionDef, found: dict[Position, tuple[Parts, ast.stmt]]
) -> dict[str, list[ast.AugAssign]]:
    """Return, by their texts, which numbers statements that wait count, and only branches look at."""
    waiting = [one for one in ast.walk(node) if isinstance(one, ast.stmt) and position(one) in found]
    counts: dict[str, list[ast.AugAssign]] = {}
    others: set[str] = set()
    for statement in waiting:
        for one in ast.walk(statement):
            for text in finder.targets(one):
                if isinstance(one, ast.AugAssign) and one is statement and _counts(one):
                    counts.setdefault(text, []).append(one)
                else:
                    others.add(text)
    asked: set[str] = set()
    for text, is_asked in _readings(node, waiting, set(counts)):
        (asked if is_asked else others).add(text)
    return {text: counts[text] for text in sorted(asked - others)}


def _counts(node: ast.AugAssign) -> bool:
    match node:
        case ast.AugAssign(op=ast.Add() | ast.Sub(), value=ast.Constant(value=int())):
            return True
        case _:
            return False


def _readings(node: ast.AST, waiting: list[ast.stmt], texts: set[str]) -> Iterator[tuple[str, bool]]:
    """Yield where numbers are read or written by what does not wait, and whether it is a branch that asks."""
    above: list[tuple[ast.AST, bool]] = [(node, False)]
    while above:
        one, is_asked = above.pop()
        if one in waiting:
            continue
        if isinstance(one, (ast.Name, ast.Attribute)) and (text := ast.unparse(one)) in texts:
            yield text, is_asked and isinstance(one.ctx, ast.Load)
            continue
        goes_on = is_asked and isinstance(one, _ASKING) and isinstance(getattr(one, "op", ast.And()), _ASKED)
        test = one.test if isinstance(one, (ast.If, ast.While, ast.IfExp)) else None
        above.extend((child, goes_on or child is test) for child in ast.iter_child_nodes(one))
