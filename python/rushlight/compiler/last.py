"""Statements at the end of a function, which may do anything with numbers: nothing comes after them."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from .waiting import Finder, Parts, Place, position

if TYPE_CHECKING:
    from collections.abc import Callable

    from .waiting import Position

_ENCLOSING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda, ast.comprehension, ast.Delete)
_LOOKING = frozenset({"super", "__class__"})
"""What looks at the class that its function is in."""


def add_last(
    finder: Finder,
    body: list[ast.stmt],
    found: dict[Position, tuple[Parts, ast.stmt]],
    takes_within: Callable[[ast.Call], bool],
) -> None:
    """Add statements at the end that take numbers out, whatever they do: there, or in what they call."""
    rest, handed = list(body), None
    if isinstance(rest[-1], ast.Return):
        handed = rest[-1].value
        rest.pop()
    if not _is_handed(handed, finder.own):
        return
    numbers = {
        target.id
        for one in body
        if isinstance(one, ast.Assign) and any(map(takes_out, ast.walk(one)))
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    last: list[tuple[ast.stmt, Parts, ast.stmt]] = []
    for statement in reversed(rest):
        parts = Parts()
        left = _as_it_is(finder, statement, numbers, parts, takes_within)
        if left is None:
            break
        last.insert(0, (statement, parts, left))
    waits = [position(statement) in found for statement, _, _ in last]
    # What comes after one that may do anything is calculated after it, too.
    for statement, parts, left in last[waits.index(False) :] if False in waits else []:
        found[position(statement)] = parts, ast.copy_location(left, statement)


def _as_it_is(
    finder: Finder,
    statement: ast.stmt,
    numbers: set[str],
    parts: Parts,
    takes_within: Callable[[ast.Call], bool],
) -> ast.stmt | None:
    """Return a whole statement that is given its variables, if it has numbers and binds none of them."""
    within = list(ast.walk(statement))
    stored = {one.id for one in within if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    is_simple = all(
        isinstance(one, (ast.Expr, ast.Assign, ast.AugAssign, ast.If, ast.Pass))
        for one in within
        if isinstance(one, ast.stmt)
    )
    names = {one.id for one in within if isinstance(one, ast.Name)}
    encloses = not names.isdisjoint(_LOOKING) or any(isinstance(one, _ENCLOSING) for one in within)
    is_closed = not encloses and not any(finder.scope(name) in ("local", "parameter") for name in stored)
    has_numbers = any(
        takes_out(one)
        or (isinstance(one, ast.Name) and one.id in numbers)
        or (isinstance(one, ast.Call) and takes_within(one))
        for one in within
    )
    if not (is_simple and is_closed and has_numbers):
        return None
    parts.stored.extend((finder.scope(name), name) for name in sorted(stored))
    for one in within:
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
            scope = finder.scope(one.value.id)
            if scope != "local":
                parts.places.append(Place("object", one.value.id, scope, (), one.attr, False))
    left: ast.stmt = _Given(finder.names, parts).visit(copy.deepcopy(statement))
    return left


class _Given(ast.NodeTransformer):
    """Puts what is given to a statement in the place of the variables of a function."""

    def __init__(self, names: set[str], parts: Parts) -> None:
        self._names = names
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        is_given = node.id in self._names and isinstance(node.ctx, ast.Load)
        return self._parts.give(node, calculates=False) if is_given else node


def takes_out(node: ast.AST) -> bool:
    """Tell whether an expression takes a number out of something, or writes one."""
    match node:
        case ast.Call(func=ast.Attribute(attr="item" | "tolist")) | ast.JoinedStr():
            return True
        case ast.Call(func=ast.Name(id="float" | "int" | "print")):
            return True
        case _:
            return False


def _is_handed(node: ast.expr | None, own: set[str]) -> bool:
    """Tell whether what is returned is the same before and after the last statements.

    Variables are, if nobody else can write to them.
    """
    match node:
        case None | ast.Constant():
            return True
        case ast.Name(id=name):
            return name in own
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Dict(values=items):
            keys = node.keys if isinstance(node, ast.Dict) else []
            return all(isinstance(key, ast.Constant) for key in keys) and all(
                _is_handed(item, own) for item in items
            )
        case _:
            return False
