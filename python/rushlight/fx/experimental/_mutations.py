"""Writes in place as computations: what a tracer records where a function is made functional.

A tensor that was written to has another node from then on. A write to a view becomes a scatter into its base;
other views of that are read from it anew, when somebody asks for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._ops import ops
from ..._rushlight import Tensor
from ...utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..node import Node
    from .proxy_tensor import ProxyTorchDispatchMode

__all__ = ["Mutations"]

aten = ops.aten


class _View:
    """How a tensor reads another, and as of which write its node does."""

    def __init__(self, tensor: Tensor, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.tensor, self.func, self.kwargs = tensor, func, kwargs
        self.base, self.args = args[0], args[1:]
        self.seen = 0


class Mutations:
    """The writes in a function that is recorded by a mode."""

    def __init__(self, mode: ProxyTorchDispatchMode, without_views: bool) -> None:
        self._mode, self._without_views = mode, without_views
        self._views: dict[int, _View] = {}
        self._writes: dict[int, int] = {}  # How often what is no view was written to.
        self._inputs: list[tuple[Tensor, Node]] = []

    def begin(self, values: Any) -> None:
        """Have inputs, to which writes come at the end."""
        tensors = [one for one in pytree.tree_leaves(values) if isinstance(one, Tensor)]
        self._inputs = [(one, self._mode.node_of(one)) for one in tensors]

    def end(self) -> None:
        """Copy to the inputs what was written to them, and read views anew."""
        for view in self._views.values():
            self.refresh(view.tensor)
        for tensor, node in self._inputs:
            now = self._mode.node_of(tensor)
            if now is not node:
                self._call(aten.copy_.default, (node, now))

    def refresh(self, tensor: Tensor) -> None:
        """Read a view anew if what it reads was written to since."""
        view = self._views.get(id(tensor))
        if view is None:
            return
        self.refresh(view.base)
        written = self._written(view.base)
        if view.seen != written:
            view.seen = written
            base = self._mode.node_of(view.base)
            self._mode.note(tensor, self._call(self._shown(view.func), (base, *view.args), view.kwargs))

    def views(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Note what an operator has answered, if it is a view."""
        returns = func._schema.returns
        shares = len(returns) == 1 and returns[0].alias_info is not None and isinstance(result, Tensor)
        if shares and result is not args[0]:
            view = self._views[id(result)] = _View(result, func, args, kwargs)
            view.seen = self._written(args[0])

    def target(self, func: Any) -> Any:
        """Return what is recorded in the place of an operator that reads."""
        is_view = len(func._schema.returns) == 1 and func._schema.returns[0].alias_info is not None
        return self._shown(func) if is_view else func

    def write(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a write as a computation, and write."""
        name = func.overloadpacket.__name__
        pure = getattr(getattr(aten, name[:-1]), func._overloadname)
        nodes = pytree.tree_map(self._mode.node_of, args), pytree.tree_map(self._mode.node_of, kwargs)
        value = self._call(pure, *nodes)
        result = func(*args, **kwargs)
        self._set(args[0], value)
        return result

    def _set(self, tensor: Tensor, value: Node) -> None:
        view = self._views.get(id(tensor))
        if view is None:
            self._writes[id(tensor)] = self._writes.get(id(tensor), 0) + 1
            self._mode.note(tensor, value)
            return
        base = self._mode.node_of(view.base)
        name = view.func.overloadpacket.__name__
        if name not in _INVERSES:
            raise RuntimeError(f"a write to what {view.func} answers is not recorded as a computation")
        func, args = _INVERSES[name](view, base, value)
        self._set(view.base, self._call(func, args) if func is not None else value)

    def _written(self, tensor: Tensor) -> int:
        view = self._views.get(id(tensor))
        return self._writes.get(id(tensor), 0) if view is None else self._written(view.base)

    def _shown(self, func: Any) -> Any:
        """Return the operator for a view, or the one that copies."""
        if not self._without_views:
            return func
        copying = getattr(aten, f"{func.overloadpacket.__name__}_copy", None)
        return getattr(copying, func._overloadname, func)

    def _call(self, func: Any, args: Any, kwargs: Any = None) -> Node:
        graph = self._mode.tracer.graph
        name = graph._target_to_str(func.overloadpacket.__name__)
        return graph.create_node("call_function", func, tuple(args), dict(kwargs or {}), name)


def _scatter(func: Any) -> Callable[[_View, Node, Node], tuple[Any, tuple[Any, ...]]]:
    return lambda view, base, value: (func, (base, value, *view.args))


def _reshape(view: _View, base: Node, value: Node) -> tuple[Any, tuple[Any, ...]]:
    return aten.view.default, (value, list(view.base.shape))


def _permute(view: _View, base: Node, value: Node) -> tuple[Any, tuple[Any, ...]]:
    ndim = view.base.ndim
    order = [dim % ndim for dim in view.args[0]]
    return aten.permute.default, (value, [order.index(dim) for dim in range(ndim)])


# Operators that answer views, and what puts the new elements of such a view into its base.
_INVERSES: dict[str, Callable[[_View, Any, Any], tuple[Any, tuple[Any, ...]]]] = {
    "alias": lambda view, base, value: (None, ()),
    "detach": lambda view, base, value: (None, ()),
    "as_strided": _scatter(aten.as_strided_scatter.default),
    "diagonal": _scatter(aten.diagonal_scatter.default),
    "select": _scatter(aten.select_scatter.default),
    "slice": _scatter(aten.slice_scatter.default),
    "permute": _permute,
    "t": lambda view, base, value: (aten.t.default, (value,)),
    "transpose": lambda view, base, value: (aten.transpose.int, (value, *view.args)),
    "unsqueeze": lambda view, base, value: (aten.squeeze.dim, (value, *view.args)),
    "squeeze": _reshape,
    "view": _reshape,
    "_unsafe_view": _reshape,
    "_reshape_alias": _reshape,
}
