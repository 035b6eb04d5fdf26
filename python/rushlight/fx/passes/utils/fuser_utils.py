"""Groups of nodes made modules, which the graph calls in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...graph import Graph
from ...graph_module import GraphModule
from ...node import Node
from ..tools_common import legalize_graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "erase_nodes",
    "fuse_as_graphmodule",
    "fuse_by_partitions",
    "insert_subgm",
    "topo_sort",
    "validate_partition",
]


def downstream(nodes: Iterable[Node], group_of: Mapping[Node, Any] | None = None) -> set[Node]:
    """Return what depends on nodes and is none of them, and which of them depend on that.

    Where a node is in a group of `group_of`, what depends on the group depends on it.
    """
    own = set(nodes)
    seen: set[Node] = set()
    waiting = [user for node in own for user in node.users if user not in own]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        group = None if group_of is None else group_of.get(node)
        alike = [node] if group is None or node in own else list(group.nodes)
        seen.update(alike)
        if node not in own:
            waiting += [user for one in alike for user in one.users]
    return seen


def topo_sort(nodes: Sequence[Node]) -> list[Node]:
    """Return nodes in the order of their graph."""
    wanted = set(nodes)
    if not wanted:
        return []
    return [node for node in next(iter(wanted)).graph.nodes if node in wanted]


def validate_partition(partition: Sequence[Node]) -> bool:
    """Tell whether nodes may be computed as one: no way leads out of them and back."""
    own = set(partition)
    return not any(node in own for node in downstream(own))


def fuse_as_graphmodule(
    gm: GraphModule,
    nodes: Sequence[Node],
    module_name: str,
    partition_lookup_table: Mapping[Node, int | None] | None = None,
    *,
    always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:
    """Return a module of nodes, and the nodes of the graph that it is given and that it stands for."""
    for node in nodes:
        if node.graph is not gm.graph:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm._get_name()}")
        if node not in gm.graph.nodes:
            raise AssertionError(f"{node} has been removed from owning graph")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    own = dict.fromkeys(nodes)
    inner, made = Graph(), {}
    given = dict.fromkeys(one for node in nodes for one in node.all_input_nodes if one not in own)
    for one in given:
        # What is a parameter here comes as what it is called outside.
        made[one] = inner.placeholder(one.name, type_expr=one.type)
        made[one].meta = dict(one.meta)
    for node in nodes:
        made[node] = inner.node_copy(node, made.__getitem__)
    outputs = tuple(node for node in nodes if any(user not in own for user in node.users))
    results = tuple(made[node] for node in outputs)
    inner.output(results[0] if len(results) == 1 and not always_return_tuple else results)
    inner.lint()
    return GraphModule(gm, inner, class_name=module_name), tuple(given), outputs


def insert_subgm(
    gm: GraphModule,
    sub_gm: GraphModule,
    orig_inputs: Sequence[Node],
    orig_outputs: Sequence[Node],
    insertion_point: Node | None = None,
) -> GraphModule:
    """Have a graph call a module where it had the nodes that the module stands for."""
    import operator

    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    last = insertion_point or next(reversed(list(gm.graph.nodes))).prev
    with gm.graph.inserting_after(last):
        called = gm.graph.call_module(name, args=tuple(orig_inputs))
    [output] = [node for node in sub_gm.graph.nodes if node.op == "output"]
    if len(orig_outputs) == 1 and not isinstance(output.args[0], tuple):
        orig_outputs[0].replace_all_uses_with(called, propagate_meta=True)
        return gm
    after = called
    for place, node in enumerate(orig_outputs):
        with gm.graph.inserting_after(after):
            after = gm.graph.call_function(operator.getitem, (called, place))
        node.replace_all_uses_with(after, propagate_meta=True)
    called.meta["val"] = tuple(node.meta.get("val") for node in orig_outputs)
    return gm


def erase_nodes(gm: GraphModule, nodes: Sequence[Node]) -> None:
    """Take nodes out of a graph, the last first."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(
    gm: GraphModule,
    partitions: Sequence[Mapping[Node, int | None] | Sequence[Node]],
    prefix: str = "fused_",
    always_return_tuple: bool = False,
) -> GraphModule:
    """Make modules of groups of nodes, `fused_0` and so on, and have the graph call them."""
    for number, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        if len(nodes) < len(partition):
            raise AssertionError("Nodes of a partition must be in the graph, and in one partition only")
        name = f"{prefix}{number}"
        made, given, outputs = fuse_as_graphmodule(gm, nodes, name, always_return_tuple=always_return_tuple)
        insert_subgm(gm, made, given, outputs)
        erase_nodes(gm, nodes)
    legalize_graph(gm)
    gm.recompile()
    return gm
