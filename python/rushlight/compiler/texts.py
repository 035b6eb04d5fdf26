"""The text that a function was made of, where it is to be had."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types
import warnings
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEVERAL_CALLS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Text(NamedTuple):
    """The text of a function, and where it stands."""

    tree: ast.Module
    body: list[ast.stmt]
    place: int

    @property
    def function(self) -> ast.FunctionDef:
        node = self.body[self.place]
        assert isinstance(node, ast.FunctionDef)
        return node


@functools.lru_cache(maxsize=64)
def text_of(code: types.CodeType) -> Text | None:
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
        made = compiled(tree, code.co_filename)
    except (SyntaxError, ValueError):
        return None
    # Whoever has changed the file, or the code, is noticed.
    return _text_in(code, tree) if code in list(codes_in(made)) else None


def compiled(tree: ast.Module, name: str) -> types.CodeType:
    """Return what a tree is as code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(tree, name, "exec", dont_inherit=True)


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield all code that is within code."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes_in(constant)


def _text_in(code: types.CodeType, tree: ast.Module) -> Text | None:
    for body in _bodies(tree):
        for place, node in enumerate(body):
            is_it = isinstance(node, ast.FunctionDef) and node.name == code.co_name
            if is_it and _first_line(node) == code.co_firstlineno:
                return Text(tree, body, place)
    return None


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            yield body


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])
