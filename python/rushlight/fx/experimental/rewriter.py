"""Functions rewritten before they are traced: what they assert and annotate becomes part of the graph."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from ..._functions.assertions import _assert
from .._symbolic_trace import Tracer
from ..annotate import annotate

if TYPE_CHECKING:
    from ..graph import Graph

__all__ = ["AST_Rewriter", "RewritingTracer"]


class AST_Rewriter(ast.NodeTransformer):
    """Turns `assert` into calls of `torch._assert`, and types beside assignments into those of nodes."""

    def rewrite(self, fn: FunctionType) -> FunctionType:
        """Return the function with such calls."""
        source = textwrap.dedent(inspect.getsource(fn))
        tree = ast.fix_missing_locations(self.visit(ast.parse(source)))
        scope = {**fn.__globals__, "_rushlight_assert": _assert, "_rushlight_annotate": annotate}
        known = dict(scope)
        exec(compile(tree, fn.__code__.co_filename, "exec", dont_inherit=True), scope)
        made = next(value for name, value in scope.items() if name not in known or value is not known[name])
        return cast("FunctionType", functools.update_wrapper(_on(made, scope), fn))

    def visit_Assert(self, node: ast.Assert) -> ast.Expr:
        """Return the call that stands for an assertion."""
        said = node.msg if node.msg is not None else ast.Constant(value="")
        called = ast.Name(id="_rushlight_assert", ctx=ast.Load())
        return ast.copy_location(ast.Expr(ast.Call(func=called, args=[node.test, said], keywords=[])), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Return the assignment of a node that has a type."""
        if node.value is None:
            return node
        called = ast.Name(id="_rushlight_annotate", ctx=ast.Load())
        typed = ast.Call(func=called, args=[node.value, node.annotation], keywords=[])
        return ast.copy_location(ast.Assign(targets=[node.target], value=typed), node)


def _on(function: FunctionType, scope: dict[str, Any]) -> FunctionType:
    return FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )


class RewritingTracer(Tracer):
    """Traces functions and modules after their assertions were rewritten."""

    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        """Return the graph of what a function or a module does."""
        return super().trace(_rewritten(root), concrete_args)


def _rewritten(root: Any) -> Any:
    from ...nn import Module

    if isinstance(root, FunctionType):
        return AST_Rewriter().rewrite(root)
    if not isinstance(root, Module):
        return root
    kind = type(root)
    forward: Any = AST_Rewriter().rewrite(cast("FunctionType", kind.forward))
    rewritten: Any = type(kind.__name__, (kind,), {"__module__": kind.__module__, "forward": forward})
    copied: Any = rewritten.__new__(rewritten)
    copied.__dict__ = dict(root.__dict__)
    copied._modules = dict(root._modules)
    return copied
