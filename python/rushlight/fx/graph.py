"""Graphs of operations: nodes in an order, which write themselves as code."""

from __future__ import annotations

from inspect import Signature
from typing import TYPE_CHECKING, Any

from ._code import CodeGen, PythonCode
from ._code import _PyTreeCodeGen as _PyTreeCodeGen
from ._code import _PyTreeInfo as _PyTreeInfo
from ._naming import Namespace, qualified_name, snake_case
from ._operators import inplace_methods as inplace_methods
from ._operators import magic_methods as magic_methods
from ._operators import reflectable_magic_methods as reflectable_magic_methods
from .node import Argument, Node, Target, map_arg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .graph_module import GraphModule

__all__ = ["CodeGen", "Graph", "PythonCode"]

_Namespace = Namespace
_get_qualified_name = qualified_name


class _node_list:
    """The nodes of a graph in their order, also while they change."""

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        self.graph, self.direction = graph, direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Any]:
        root, direction = self.graph._root, self.direction
        place = getattr(root, direction)
        while place is not root:
            if not place._erased:
                yield place
            place = getattr(place, direction)

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_next" if self.direction == "_prev" else "_prev")


class _InsertPoint:
    """A block, or from now on, in which nodes go somewhere else."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self.before, graph._insert = graph._insert, insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self.graph._insert = self.before


class Graph:
    """Operations in the order in which they are done.

    >>> import rushlight as torch
    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_function(torch.sin, (x,))
    >>> _ = graph.output(y)
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %sin : [num_users=1] = call_function[target=torch.sin](args = (%x,), kwargs = {})
        return sin
    """

    def __init__(
        self,
        owning_module: GraphModule | None = None,
        tracer_cls: Any = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = Namespace()
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict[str, Any] = {}

    @property
    def owning_module(self) -> GraphModule | None:
        """The module of this graph."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: GraphModule | None) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> _node_list:
        """The nodes in their order."""
        return _node_list(self)

    def output_node(self) -> Node:
        """Return the node of what the graph returns."""
        node = next(iter(reversed(self.nodes)))
        if node.op != "output":
            raise AssertionError(f"Expected output node, got {node.op}")
        return node  # type: ignore[no-any-return]

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """Return the nodes of a kind, that call `target` if one is given."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node where nodes go at present: at the end, unless something else was said."""
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        called = self._graph_namespace.create_name(
            self._target_to_str(target) if name is None else name, None
        )
        node = Node(self, called, op, target, args, kwargs, type_expr)
        if self._owning_module is not None:
            for hook in getattr(self._owning_module, "_create_node_hooks", ()):
                hook(node)
        self._graph_namespace.associate_name_with_obj(called, node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target: Target | None) -> str:
        if callable(target):
            name = getattr(target, "__name__", type(target).__name__)
        else:
            name = str(target)
            if name.startswith("__") and name.endswith("__"):
                name = name[2:-2]
        return snake_case(name)

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = Signature.empty) -> Node:
        """Add an input."""
        args = () if default_value is Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Add a node that reads an attribute of the module."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of a module inside of the module."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """Add a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """Add what the graph returns."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Argument] = lambda node: node) -> Node:
        """Add a copy of a node of another graph, whose arguments `arg_transform` brings into this one."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = dict(node.meta)
        return copied

    def graph_copy(self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False) -> Any:
        """Add copies of all nodes of a graph that are not in `val_map`, and return what it returns."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda one: val_map[one])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda one: val_map[one])
        return None

    def erase_node(self, to_erase: Node) -> None:
        """Take out a node that nobody uses."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                f"{to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            return
        if self._owning_module is not None:
            for hook in getattr(self._owning_module, "_erase_node_hooks", ()):
                hook(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase.args, to_erase.kwargs = (), {}

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """Have nodes go before one; without one, to the start."""
        return self.inserting_after(self._root) if n is None else self._inserting(n, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """Have nodes go after one, in their order; without one, to the end."""
        if n is None:
            return self.inserting_before(self._root)
        last = n

        def insert(node: Node) -> None:
            last.append(node)

        return self._inserting(n, insert)

    def _inserting(self, n: Node, insert: Callable[[Node], None]) -> _InsertPoint:
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, insert)

    def process_inputs(self, *args: Any) -> Any:
        """Return what the placeholders get of the arguments of the function."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """Return what the function returns of the output of the graph."""
        return self._codegen.process_outputs(out)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Say who writes the function."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer: Callable[[Any], Any]) -> _Transforming:
        """Have the lines of the function changed: as a block, or from now on."""
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)
        return _Transforming(self._codegen, before)

    def python_code(self, root_module: str, **options: Any) -> PythonCode:
        """Return the function, in which the module is called `root_module`."""
        namespace = Namespace()

        def name(node: Node) -> str:
            return namespace.create_name(node.name, node)

        for node in self.nodes:
            node._repr_fn = name
        try:
            return self._codegen._gen_python_code(self.nodes, root_module, namespace)
        finally:
            for node in self.nodes:
                node._repr_fn = None

    def lint(self) -> None:
        """Check that the graph is in order: nodes use what is before them, and attributes are there."""
        names: set[str] = set()
        seen: set[Node] = set()
        for node in self.nodes:
            for used in node.all_input_nodes:
                if used.graph is not self:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' does not belong to this Graph, but was used "
                        f"as an "
                        "argument! If you are copying nodes from another graph, make sure to use "
                        f"``arg_transform`` on node_copy() to remap values\n{self}"
                    )
                if used not in seen:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' was used before it has been defined! Please "
                        f"check that Nodes in the graph are topologically ordered\n{self}"
                    )
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
            seen.add(node)
        if self._owning_module is not None:
            for node in self.nodes:
                if node.op in ("get_attr", "call_module"):
                    _check_attribute(self._owning_module, node)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Take out nodes that nobody uses and that do nothing else; tell whether there were any."""
        if not self._is_ordered():
            self.lint()
        impure = Node.is_impure if is_impure_node is None else is_impure_node
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
                changed = True
        return changed

    def _is_ordered(self) -> bool:
        seen: set[Node] = set()
        for node in self.nodes:
            if not seen.issuperset(node.all_input_nodes):
                return False
            seen.add(node)
        return True

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        head = ("opcode", "name", "target", "args", "kwargs")
        rows = [tuple(str(getattr(n, what)) for what in ("op", *head[1:])) for n in self.nodes]
        # Columns are two wider than their titles, as those of `tabulate` are, which torch has print them.
        widths = [max(len(title) + 2, *map(len, c)) for title, *c in zip(head, *rows, strict=True)]
        ruler = tuple("-" * width for width in widths)
        for row in (head, ruler, *rows):
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    def flatten_outs(self, out: Any) -> Any:
        """Return what the function returns, in one list."""
        from ..utils._pytree import tree_leaves

        return tree_leaves(out)

    def __str__(self) -> str:
        return "".join(["graph():", *(f"\n    {node.format_node()}" for node in self.nodes)])

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        from copy import deepcopy

        memo = {} if memo is None else memo
        copied = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        memo[id(self)] = copied
        nodes: dict[Node, Any] = {}
        result = copied.graph_copy(self, nodes, return_output_node=True)
        copied._codegen = deepcopy(self._codegen)
        if result is not None:
            output, old = result
            made = copied.output(output, type_expr=old.type)
            made.meta = dict(old.meta)
            nodes[old] = made
        for old, new in nodes.items():
            memo[id(old)] = new
        return copied


class _Transforming:
    """A block in which the lines of a function are changed."""

    def __init__(self, codegen: CodeGen, before: Any) -> None:
        self.codegen, self.before = codegen, before

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self.codegen._body_transformer = self.before


def _check_attribute(module: Any, node: Node) -> None:
    place = module
    for part in node.target.split("."):
        if not hasattr(place, part):
            raise RuntimeError(
                f"Node {node} target {node.target} references nonexistent attribute {part} of "
                f"{module._get_name()}"
            )
        place = getattr(place, part)
    if node.op == "call_module" and not callable(place):
        raise RuntimeError(f"Node {node} target {node.target} is not callable")
