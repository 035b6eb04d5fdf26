"""Statements of a function that can wait for the end of a call: `losses.append(loss.item())`.

They do something with numbers that cannot fail, and put it where the rest of the function does not look.
Here they are found in its text; `rewriting` makes a function without them, and `effects` says whether
nobody looks.
"""

from __future__ import annotations

import ast
import copy
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator

DONE = "rushlight_done"
NUMBER = "rushlight_number"
"""What the function that is made has besides: numbers so far, and what takes one out of a tensor."""
ARGUMENT = "rushlight_argument_"

_ADDING = frozenset({"append", "appendleft", "add", "extend"})
_PLAIN = frozenset({"min", "max", "abs", "str", "repr"})
"""Functions of numbers that fail for none of them."""
_ANY_NUMBER = re.compile(r"%[-+ #0]*\d*(\.\d+)?[eEfFgGrs%]")
_EXACT = (ast.Add, ast.Sub, ast.Mult)
_DIVIDING = (ast.Div, ast.FloorDiv, ast.Mod)
_COMPARING = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot)

_UNUSUAL = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Starred)

Position = tuple[int, int]


class Place(NamedTuple):
    """What a statement writes to or reads: a variable, or something of what a path leads to."""

    kind: str
    """`name`, `attribute`, `item` or `elements`; `object` is an attribute that may be used for anything."""
    root: str
    scope: str
    """Where the root is: `global`, `free`, or `parameter`."""
    path: tuple[tuple[str, object], ...]
    """Attributes and items on the way."""
    key: object
    """The attribute or the item, if it is known."""
    is_read: bool
    """Whether something is calculated with what is there."""


class Path(NamedTuple):
    """A variable, and the way from there."""

    root: str
    scope: str
    path: tuple[tuple[str, object], ...]


class _CannotWait(Exception):
    """A statement has to be done where it stands."""


class Parts:
    """What is calculated where a statement stands, and given to what is left of it."""

    def __init__(self) -> None:
        self.given: list[ast.expr] = []
        self.calculates: list[bool] = []
        self.places: list[Place] = []
        self.stored: list[tuple[str, str]] = []
        self.is_certain = True
        """Whether what comes now is calculated in any case."""

    def give(self, node: ast.expr, calculates: bool, is_number: bool = False) -> ast.expr:
        """Return what has the value of an expression in what is left."""
        text = ast.dump(node)
        for place, other in enumerate(self.given):
            if ast.dump(other) == text and isinstance(_innermost(other), ast.Name):
                self.calculates[place] |= calculates
                return ast.Name(f"{ARGUMENT}{place}", ast.Load())
        if not (self.is_certain or _is_harmless(node)):
            raise _CannotWait
        if is_number and not _is_taken(node):
            node = ast.Call(ast.Name(NUMBER, ast.Load()), [node], [])
        self.given.append(node)
        self.calculates.append(calculates)
        return ast.Name(f"{ARGUMENT}{len(self.given) - 1}", ast.Load())


class Finder:
    """Goes through a function for the statements that can wait, except those at some places."""

    def __init__(
        self, code: types.CodeType, node: ast.FunctionDef, scope: dict[str, Any], left: frozenset[Position]
    ) -> None:
        self._code = code
        self._globals = scope
        self._left = set(left)
        stored = {
            one.id
            for one in ast.walk(node)
            if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
        }
        count = code.co_argcount + code.co_kwonlyargcount
        self._parameters = set(code.co_varnames[:count]) - stored
        self.own = {*code.co_varnames} - {*code.co_cellvars}
        self.names = self.own | {*code.co_cellvars}
        self._waiting = {
            text for one in ast.walk(node) for text in self.targets(one) if position(one) not in left
        }

    def found(self, body: list[ast.stmt]) -> dict[Position, tuple[Parts, ast.stmt]]:
        """Return what is given to the statements that can wait, and what is left of each."""
        while True:
            found: dict[Position, tuple[Parts, ast.stmt]] = {}
            written: set[str] = set()
            end = 0
            for statement in _statements(body):
                if position(statement) in self._left or statement.lineno <= end:
                    continue
                parts = Parts()
                try:
                    left = self._statement(statement, parts)
                except _CannotWait:
                    self._left.add(position(statement))
                    continue
                found[position(statement)] = parts, ast.copy_location(left, statement)
                written.update(text for one in ast.walk(statement) for text in self.targets(one))
                if isinstance(statement, ast.If):
                    end = statement.end_lineno or end
            if written >= self._waiting:
                return found
            # What only those write to that have to be done where they stand is read where it stands, too.
            self._waiting &= written

    def scope(self, name: str) -> str:
        """Return whether a variable is a parameter that stays, another one, from around, or of the module."""
        if name in self.names:
            return "parameter" if name in self._parameters else "local"
        return "free" if name in self._code.co_freevars else "global"

    def targets(self, statement: ast.AST) -> Iterator[str]:
        """Yield the variables and attributes that a statement writes to, or to whose elements, as texts."""
        match statement:
            case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
                node: ast.expr = target
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=attr))) if attr in _ADDING:
                node = value
            case _:
                return
        while isinstance(node, ast.Subscript):
            node = node.value
        root = node
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        is_outside = isinstance(root, ast.Name) and self.scope(root.id) != "local"
        if is_outside and isinstance(node, (ast.Name, ast.Attribute)):
            yield ast.unparse(node)

    def _statement(self, node: ast.stmt, parts: Parts) -> ast.stmt:
        """Return what is left of a statement."""
        match node:
            case ast.AugAssign(target=target, op=op, value=value) if isinstance(op, _EXACT):
                place: Any = self._place(target, parts, is_read=True)
                return ast.AugAssign(place, op, self._value(value, parts, calculates=True))
            case ast.Assign(targets=[target], value=value):
                answer = self._value(value, parts)
                return ast.Assign([self._place(target, parts)], answer)
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=value, attr=attr), args=[added], keywords=[])
            ) if attr in _ADDING:
                root, scope, path = self._path(value)
                if scope == "parameter" and not path:
                    raise _CannotWait
                parts.places.append(Place("elements", root, scope, path, None, False))
                adds = ast.Attribute(self._rooted(value, parts), attr, ast.Load())
                if attr == "extend" and not isinstance(added, (ast.List, ast.Tuple)):
                    raise _CannotWait
                answer = self._value(added, parts, calculates=attr == "add")
                return ast.Expr(ast.Call(adds, [answer], []))
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=args, keywords=keywords)):
                self._is_builtin("print")
                shown = [self._value(one, parts, calculates=True) for one in args]
                if any(one.arg is None for one in keywords):
                    raise _CannotWait
                named = [ast.keyword(one.arg, self._value(one.value, parts)) for one in keywords]
                return ast.Expr(ast.Call(ast.Name("print", ast.Load()), shown, named))
            case ast.If(test=test, body=body, orelse=orelse) if self._looks(test):
                answer = self._value(test, parts, calculates=True)
                parts.is_certain = False
                within = [self._statement(one, parts) for one in body]
                return ast.If(answer, within, [self._statement(one, parts) for one in orelse])
            case ast.Pass():
                return node
            case _:
                raise _CannotWait

    def _looks(self, test: ast.expr) -> bool:
        """Tell whether a condition depends on numbers or on what waits; else it stays where it is."""
        return any(
            isinstance(one, ast.expr) and (self._waits(one) or _is_taken(one)) for one in ast.walk(test)
        )

    def _waits(self, node: ast.AST) -> bool:
        return isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node) in self._waiting

    def _place(self, target: ast.expr, parts: Parts, is_read: bool = False) -> ast.expr:
        """Return what a statement writes to, in what is left of it."""
        match target:
            case ast.Name(id=name):
                scope = self.scope(name)
                if scope not in ("global", "free"):
                    raise _CannotWait
                parts.places.append(Place("name", name, scope, (), None, is_read))
                parts.stored.append((scope, name))
                return ast.Name(name, ast.Store())
            case ast.Attribute(value=value, attr=attr):
                root, scope, path = self._path(value)
                _is_unmangled(attr)
                parts.places.append(Place("attribute", root, scope, path, attr, is_read))
                return ast.Attribute(self._rooted(value, parts), attr, ast.Store())
            case ast.Subscript(value=value, slice=ast.Constant(value=key) as index):
                root, scope, path = self._path(value)
                if scope == "parameter" and not path:
                    raise _CannotWait
                parts.places.append(Place("item", root, scope, path, key, is_read))
                return ast.Subscript(self._rooted(value, parts), index, ast.Store())
            case _:
                raise _CannotWait

    def path(self, node: ast.expr) -> Path | None:
        """Return the path that an expression is, if it is one."""
        try:
            return self._path(node)
        except _CannotWait:
            return None

    def _path(self, node: ast.expr) -> Path:
        """Return the root of a place, where that is, and the way from there."""
        match node:
            case ast.Name(id=name):
                if (scope := self.scope(name)) == "local":
                    raise _CannotWait
                return Path(name, scope, ())
            case ast.Attribute(value=value, attr=attr):
                _is_unmangled(attr)
                root, scope, path = self._path(value)
                return Path(root, scope, (*path, ("attribute", attr)))
            case ast.Subscript(value=value, slice=ast.Constant(value=key)):
                root, scope, path = self._path(value)
                return Path(root, scope, (*path, ("item", key)))
            case _:
                raise _CannotWait

    def _rooted(self, node: ast.expr, parts: Parts) -> ast.expr:
        """Return a path in what is left: a parameter is given."""
        match node:
            case ast.Name(id=name) if self.scope(name) == "parameter":
                return parts.give(ast.Name(name, ast.Load()), calculates=False)
            case ast.Attribute(value=value, attr=attr):
                return ast.Attribute(self._rooted(value, parts), attr, ast.Load())
            case ast.Subscript(value=value, slice=index):
                return ast.Subscript(self._rooted(value, parts), index, ast.Load())
            case _:
                return copy.deepcopy(node)

    def _value(
        self, node: ast.expr, parts: Parts, calculates: bool = False, is_number: bool = False
    ) -> ast.expr:
        """Return an expression in what is left: numbers and whatever else there is are given."""
        match node:
            case ast.Constant():
                return node
            case ast.Name() | ast.Attribute() if self._waits(node):
                root, scope, path = self._path(node)
                last = path[-1][1] if path else None
                kind = "attribute" if path else "name"
                parts.places.append(Place(kind, root, scope, path[:-1], last, True))
                return self._rooted(node, parts)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _EXACT) or _is_safe(node):
                first = self._value(left, parts, calculates=True)
                return ast.BinOp(first, op, self._value(right, parts, calculates=True))
            case ast.UnaryOp(op=op, operand=operand) if not isinstance(op, ast.Invert):
                return ast.UnaryOp(op, self._value(operand, parts, calculates=True))
            case ast.Compare(left=left, ops=ops, comparators=others) if all(
                isinstance(op, _COMPARING) for op in ops
            ):
                first = self._value(left, parts, calculates=True)
                return ast.Compare(
                    first, ops, [self._value(other, parts, calculates=True) for other in others]
                )
            case ast.BoolOp(op=op, values=[first, *others]):
                answers = [self._value(first, parts, calculates=True)]
                return ast.BoolOp(op, answers + self._perhaps(others, parts))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                asked = self._value(test, parts, calculates=True)
                return ast.IfExp(asked, *self._perhaps([body, orelse], parts))
            case ast.JoinedStr(values=values):
                return ast.JoinedStr([self._text_part(one, parts) for one in values])
            case ast.Tuple(elts=items):
                return ast.Tuple([self._value(one, parts, calculates) for one in items], ast.Load())
            case ast.List(elts=items):
                return ast.List([self._value(one, parts, calculates) for one in items], ast.Load())
            case ast.Call(func=ast.Name(id="float"), args=[inner], keywords=[]):
                self._is_builtin("float")
                answer = self._value(inner, parts, calculates=True, is_number=True)
                return ast.Call(ast.Name("float", ast.Load()), [answer], [])
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _PLAIN or (
                name == "round" and len(args) == 2
            ):
                self._is_builtin(name)
                answers = [self._value(one, parts, calculates=True) for one in args]
                return ast.Call(ast.Name(name, ast.Load()), answers, [])
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str()) as text, attr="format"), args=args
            ):
                answers = [self._value(one, parts, calculates=True, is_number=True) for one in args]
                if node.keywords:
                    raise _CannotWait
                return ast.Call(ast.Attribute(text, "format", ast.Load()), answers, [])
            case _:
                within = list(ast.walk(node))
                if any(map(self._waits, within)) or any(isinstance(one, _UNUSUAL) for one in within):
                    raise _CannotWait
                taken = [one for one in within[1:] if isinstance(one, ast.expr) and _is_taken(one)]
                if taken and not isinstance(node, ast.Dict):
                    raise _CannotWait
                return parts.give(node, calculates, is_number)

    def _perhaps(self, nodes: list[ast.expr], parts: Parts) -> list[ast.expr]:
        """Return expressions in what is left that are calculated only in some cases."""
        was, parts.is_certain = parts.is_certain, False
        answers = [self._value(node, parts, calculates=True) for node in nodes]
        parts.is_certain = was
        return answers

    def _text_part(self, node: ast.expr, parts: Parts) -> ast.expr:
        """Return a part of a text with values in it: what has no dimensions is written as its number."""
        match node:
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=form):
                if form is not None and not all(
                    isinstance(one, ast.Constant) for one in ast.iter_child_nodes(form)
                ):
                    raise _CannotWait
                answer = self._value(value, parts, calculates=True, is_number=conversion == -1)
                return ast.FormattedValue(answer, conversion, form)
            case _:
                return node

    def _is_builtin(self, name: str) -> None:
        if self.scope(name) != "global" or name in self._globals:
            raise _CannotWait


def _is_taken(node: ast.expr) -> bool:
    """Tell whether an expression takes a number out of a tensor."""
    return _innermost(node) is not node


def _innermost(node: ast.expr) -> ast.expr:
    """Return what a number is taken out of; if none is, the expression itself."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            return inner
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name == NUMBER:
            return inner
        case _:
            return node


def _is_harmless(node: ast.expr) -> bool:
    """Tell whether nothing happens if an expression is calculated without need, but that it fails."""
    match _innermost(node):
        case ast.Call(func=ast.Name(id="len"), args=[inner], keywords=[]):
            return _is_harmless(inner)
        case ast.Attribute(value=inner):
            return _is_harmless(inner)
        case inner:
            return isinstance(inner, ast.Name)


def _is_safe(node: ast.BinOp) -> bool:
    """Tell whether a division or a text with numbers in it fails for no number."""
    match node.right, node.left:
        case ast.Constant(value=int() | float() as divisor), _ if isinstance(node.op, _DIVIDING):
            return divisor != 0 and not isinstance(getattr(node.left, "value", None), str)
        case _, ast.Constant(value=str() as text):
            return isinstance(node.op, ast.Mod) and _ANY_NUMBER.sub("", text).find("%") < 0
        case ast.Call(func=ast.Name(id="len")), _:
            return isinstance(node.op, _DIVIDING)
        case _:
            return False


def _is_unmangled(name: str) -> None:
    if name.startswith("__"):
        raise _CannotWait


def position(node: ast.AST) -> Position:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that may wait; not those whose failures are caught."""
    for statement in body:
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.If)):
            yield statement
        if isinstance(statement, (ast.If, ast.For, ast.While, ast.With)):
            yield from _statements(statement.body)
            yield from _statements(getattr(statement, "orelse", []))
