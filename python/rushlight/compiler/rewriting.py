"""What is made of a function whose statements wait: Note [Effects].

It is one that returns what they need, and the rest of each statement.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import linecache
import types
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from .last import add_last
from .waiting import ARGUMENT, DONE, NUMBER, Finder, Parts, Place, Position, position

if TYPE_CHECKING:
    from collections.abc import Iterator

_EFFECT = "rushlight_effect_"
_LOOKING = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""What would see that there are other variables."""
_SEVERAL_CALLS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Statement(NamedTuple):
    """What is left of a statement."""

    code: types.CodeType
    places: tuple[Place, ...]
    calculates: tuple[bool, ...]
    """Of each argument, whether something is calculated or written with it, so that it has to be a number."""
    at: Position
    lines: range


class Made(NamedTuple):
    """What is made of a function, and of its statements that wait."""

    code: types.CodeType
    statements: tuple[Statement, ...]


class _Rewriter(ast.NodeTransformer):
    """Puts what is given to the statements that wait in their place, and into what is returned."""

    def __init__(self, found: dict[Position, tuple[Parts, ast.stmt]]) -> None:
        self._places = {at: place for place, at in enumerate(found)}
        self._found = found

    def body(self, node: ast.FunctionDef) -> None:
        """Rewrite a function."""
        node.body = [self.visit(statement) for statement in node.body]
        has_text = ast.get_docstring(node, clean=False) is not None
        node.body.insert(int(has_text), ast.Assign([ast.Name(DONE, ast.Store())], ast.Tuple([], ast.Load())))
        node.body.append(self.visit_Return(ast.Return(None)))
        used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        node.body = [one for one in node.body if not _is_idle(one, used)]
        node.args.kwonlyargs.append(ast.arg(NUMBER))
        node.args.kw_defaults.append(ast.Constant(None))

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt) and position(node) in self._places:
            parts, _ = self._found[position(node)]
            given: list[ast.expr] = [ast.Constant(str(self._places[position(node)])), *parts.given]
            before = ast.Starred(ast.Name(DONE, ast.Load()), ast.Load())
            done = ast.Tuple([before, ast.Tuple(given, ast.Load())], ast.Load())
            return ast.copy_location(ast.Assign([ast.Name(DONE, ast.Store())], done), node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return node
        return super().visit(node)

    def visit_Return(self, node: ast.Return) -> ast.Return:
        value = node.value or ast.Constant(None)
        both = ast.Tuple([value, ast.Name(DONE, ast.Load())], ast.Load())
        return ast.copy_location(ast.Return(both), node)


def _is_idle(node: ast.stmt, used: set[str]) -> bool:
    """Tell whether a statement declares nothing but names that are not used; these are taken off it."""
    if not isinstance(node, ast.Nonlocal):
        return False
    node.names = [name for name in node.names if name in used]
    return not node.names


def _effect(number: int, parts: Parts, left: ast.stmt) -> ast.FunctionDef:
    """Return what is left of a statement, as a function."""
    arguments = [ast.arg(f"{ARGUMENT}{place}") for place in range(len(parts.given))]
    declared: list[ast.stmt] = [
        (ast.Global if scope == "global" else ast.Nonlocal)([name])
        for scope, name in dict.fromkeys(parts.stored)
    ]
    node = ast.FunctionDef(
        f"{_EFFECT}{number}",
        ast.arguments([], arguments, None, [], [], None, []),
        [*declared, left],
        [],
        None,
    )
    node.type_params = []  # type: ignore[attr-defined, unused-ignore]
    return ast.copy_location(node, left)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            yield body


@functools.lru_cache(maxsize=64)
def _source(code: types.CodeType) -> ast.Module | None:
    """Return the text that code was made of, as a tree of what it stands in, if it is to be had."""
    text = "".join(linecache.getlines(code.co_filename))
    if not text or code.co_flags & _SEVERAL_CALLS:
        return None
    try:
        tree = ast.parse(text)
        line = code.co_firstlineno
        # Attributes of what is imported are read by other instructions.
        tree.body = [
            node
            for node in tree.body
            if isinstance(node, (ast.Import, ast.ImportFrom))
            or _first_line(node) <= line <= (node.end_lineno or line)
        ]
        made = _compiled(tree, code.co_filename)
    except (SyntaxError, ValueError):
        return None
    # Whoever has changed the file, or the code, is noticed.
    return tree if code in list(_codes(made)) else None


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _compiled(tree: ast.Module, name: str) -> types.CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(tree, name, "exec", dont_inherit=True)


def _named_like(code: types.CodeType, other: types.CodeType) -> types.CodeType:
    """Return code with the name of another: who writes a log says in which function that was."""
    named = {name: getattr(code, name) for name in ("co_name", "co_qualname") if hasattr(code, name)}
    return other.replace(**named)


def make(code: types.CodeType, scope: dict[str, Any], left: frozenset[Position]) -> Made | None:
    """Return what is made of a function with this code, whose globals are `scope`.

    Statements where `left` says so are left where they are; None if there are no others, or no text.
    """
    given = _source(code)
    if given is None:
        return None
    tree = copy.deepcopy(given)
    if not _LOOKING.isdisjoint(code.co_names):
        return None
    for body in _bodies(tree):
        for place, node in enumerate(body):
            is_it = isinstance(node, ast.FunctionDef) and node.name == code.co_name
            if is_it and _first_line(node) == code.co_firstlineno:
                return _made(code, tree, body, place, scope, left)
    return None


def _made(
    code: types.CodeType,
    tree: ast.Module,
    body: list[ast.stmt],
    place: int,
    scope: dict[str, Any],
    left: frozenset[Position],
) -> Made | None:
    node = body[place]
    assert isinstance(node, ast.FunctionDef)
    finder = Finder(code, node, scope, left)
    found = finder.found(node.body)
    add_last(finder, node.body, found)
    if not found:
        return None
    _Rewriter(found).body(node)
    body[place + 1 : place + 1] = [_effect(number, *found[at]) for number, at in enumerate(found)]
    made = list(_codes(_compiled(ast.fix_missing_locations(tree), code.co_filename)))
    own = [one for one in made if one.co_name == code.co_name and one.co_firstlineno == code.co_firstlineno]
    effects = {one.co_name: one for one in made if one.co_name.startswith(_EFFECT)}
    statements = (
        Statement(
            _named_like(code, effects[f"{_EFFECT}{number}"]),
            tuple(parts.places),
            tuple(parts.calculates),
            at,
            range(one.lineno, (one.end_lineno or one.lineno) + 1),
        )
        for number, (at, (parts, one)) in enumerate(found.items())
    )
    return Made(own[0], tuple(statements))
