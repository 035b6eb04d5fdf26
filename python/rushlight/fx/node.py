"""Nodes of graphs: what is called, with what, and who uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._functions.assertions import _assert
from .._ops import OpOverload
from .._rushlight import Tensor, device, dtype, layout, memory_format
from ._naming import qualified_name, type_repr
from .immutable_collections import immutable_dict, immutable_list

if TYPE_CHECKING:
    from collections.abc import Callable

    from .graph import Graph

__all__ = ["Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

Target = Any
Argument = Any
BaseArgumentTypes = Any
base_types = (
    str, int, float, bool, complex, dtype, Tensor, device, memory_format, layout, OpOverload, range, slice,
)  # fmt: skip

_LEGAL = frozenset(
    ["call_function", "call_method", "call_module", "get_attr", "output", "placeholder", "root"]
)
_side_effectful_functions: set[Callable[..., Any]] = {_assert}


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Say that a call of a function is kept, also if nobody uses what it returns."""
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a: Argument, fn: Callable[[Any], Any]) -> Argument:
    """Return nested containers with what a function makes of everything in them."""
    if isinstance(a, tuple):
        parts = [map_aggregate(one, fn) for one in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return immutable_list(map_aggregate(one, fn) for one in a)
    if isinstance(a, dict):
        return immutable_dict((key, map_aggregate(one, fn)) for key, one in a.items())
    if isinstance(a, slice):
        return slice(*(map_aggregate(one, fn) for one in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Argument, fn: Callable[[Node], Any]) -> Argument:
    """Return nested containers with what a function makes of every node in them."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda one: fn(one) if isinstance(one, Node) else one)


class Node:
    """An operation of a graph.

    `op` says of which kind: a `placeholder` is an input, `get_attr` reads an attribute of the module,
    `call_function`, `call_module` and `call_method` call `target` with `args` and `kwargs`, and `output`
    returns its argument. `users` are the nodes that use it.
    """

    _args: Any
    _kwargs: Any
    _prev: Node
    _next: Node

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any = None,
    ) -> None:
        if op not in _LEGAL:
            raise AssertionError(f"op '{op}' is not in legal ops {sorted(_LEGAL)}")
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} but a "
                    "Callable is expected"
                )
        elif not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} but a "
                f"str is expected"
            )
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._input_nodes: dict[Node, None] = {}
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        self._prev = self._next = self
        self._args, self._kwargs = (), {}
        self._update_args_kwargs(tuple(args), dict(kwargs))

    @property
    def next(self) -> Node:
        """The node after this one."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    @property
    def args(self) -> tuple[Argument, ...]:
        """The arguments by position."""
        return self._args  # type: ignore[no-any-return]

    @args.setter
    def args(self, given: tuple[Argument, ...]) -> None:
        self._update_args_kwargs(given, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The arguments by name."""
        return self._kwargs  # type: ignore[no-any-return]

    @kwargs.setter
    def kwargs(self, given: dict[str, Argument]) -> None:
        self._update_args_kwargs(self._args, given)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    @property
    def stack_trace(self) -> str | None:
        """Where in the program it was recorded, if that was kept."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def _update_args_kwargs(self, args: Any, kwargs: Any) -> None:
        for old in self._input_nodes:
            old.users.pop(self, None)
        self._input_nodes = {}

        def note(one: Node) -> Node:
            self._input_nodes.setdefault(one)
            one.users.setdefault(self)
            return one

        self._args, self._kwargs = map_arg(args, note), map_arg(kwargs, note)

    def _remove_from_list(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def prepend(self, x: Node) -> None:
        """Put a node before this one; a node of this graph is moved."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: Node) -> None:
        """Put a node after this one; a node of this graph is moved."""
        self._next.prepend(x)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replace an argument at a position."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Put another argument before the one at a position."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        args = list(self.args)
        args.insert(idx, arg)
        self.args = tuple(args)

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Replace an argument of a name."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let everybody who uses this node use another, and return who did."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = []
        for user in list(self.users):
            if delete_user_cb is None or delete_user_cb(user):
                changed.append(user)
                user.replace_input_with(self, replace_with)
        return changed

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use a node where another was used."""

        def exchange(one: Node) -> Node:
            return new_input if one is old_input else one

        self._update_args_kwargs(map_arg(self.args, exchange), map_arg(self.kwargs, exchange))

    def is_impure(self, impure_random: bool = True) -> bool:
        """Tell whether this does more than to return something, so that it is kept without users."""
        if self.op in {"placeholder", "output"}:
            return True
        if self.op == "call_function":
            schema = getattr(self.target, "_schema", None)
            if schema is not None and schema.is_mutable:
                return True
            return self.target in _side_effectful_functions
        if self.op == "call_method":
            return str(self.target).endswith("_") and not str(self.target).endswith("__")
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                return False
            return bool(getattr(owner.get_submodule(self.target), "_is_impure", False))
        return False

    def _pretty_print_target(self, target: Any) -> str:
        if isinstance(target, str):
            return target
        module = getattr(target, "__module__", None)
        if module in ("builtins", "_operator"):
            return f"{module.lstrip('_')}.{target.__name__}"
        return qualified_name(target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str:
        """Return the line of this node in the text of its graph."""
        typed = f"{type_repr(self.type)} " if self.type else ""
        head = f"%{self.name} : {typed}[num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            if placeholder_names is not None:
                placeholder_names.append(f"{self.name} : {type_repr(self.type)}" if self.type else self.name)
            return f"{head}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}[target={self._pretty_print_target(self.target)}]"
        if self.op == "output":
            if self.type and maybe_return_typename is not None:
                maybe_return_typename[0] = f" -> {type_repr(self.type)}"
            return f"return {self.args[0]}"
        named = ", ".join(f"{key}: {_format_arg(one)}" for key, one in self.kwargs.items())
        target = self._pretty_print_target(self.target)
        return f"{head}[target={target}](args = {_format_arg(self.args)}, kwargs = {{{named}}})"

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    def __lt__(self, other: Node) -> bool:
        place = self._next
        while place is not self.graph._root:
            if place is other:
                return True
            place = place._next
        return False

    def __gt__(self, other: Node) -> bool:
        return other < self

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or other < self


def _format_arg(arg: Any) -> str:
    """Return an argument as it stands in the text of a graph."""
    if hasattr(arg, "_custom_fx_repr_fn"):
        return str(arg._custom_fx_repr_fn())
    if isinstance(arg, tuple):
        inside = ", ".join(map(_format_arg, arg))
        return f"({inside},)" if len(arg) == 1 else f"({inside})"
    if isinstance(arg, list):
        return f"[{', '.join(map(_format_arg, arg))}]"
    if isinstance(arg, dict):
        return f"{{{', '.join(f'{key}: {_format_arg(one)}' for key, one in arg.items())}}}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)
