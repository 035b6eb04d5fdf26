"""Nodes of a graph by the functions and classes of modules that they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ...graph import Graph
    from ...node import Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@dataclass
class SourcePartition:
    """The nodes of one call, what they are given and what others use of them."""

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def get_source_partitions(
    graph: Graph, wanted_sources: Collection[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """Return the calls of functions and modules, by these; nodes tell in `meta` what they come from."""
    calls: dict[Any, dict[Any, list[Node]]] = {}
    for node in graph.nodes:
        source, name = _source(node, wanted_sources)
        if name is not None:
            calls.setdefault(source, {}).setdefault(name, []).append(node)
    return {
        source: [
            _partition(nodes, source)
            for nodes in named.values()
            if filter_fn is None or all(map(filter_fn, nodes))
        ]
        for source, named in calls.items()
    }


def _source(node: Node, wanted: Collection[Any]) -> tuple[Any, Any]:
    """Return which of the wanted sources a node comes from, and the name of the call."""
    stack = node.meta.get("source_fn_stack")
    if stack is not None:
        name, source = stack[-1][:2]
        return (source, name) if source in wanted else (None, None)
    if (called := node.meta.get("torch_fn")) is not None:
        source = called[1].split(".")[1]
        if source in wanted:
            return source, called[0]
    modules = node.meta.get("nn_module_stack")
    if node.op == "call_function" and modules:
        name, kind = list(modules.values())[-1]
        for source in wanted:
            if _is_of(kind, source):
                return source, name
    return None, None


def _is_of(kind: Any, source: Any) -> bool:
    if not isinstance(source, type):
        return bool(kind == source)
    if isinstance(kind, type):
        return issubclass(kind, source)
    return bool(kind == f"{source.__module__}.{source.__qualname__}")


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    found, inside = SourcePartition(nodes, source), set(nodes)
    given: dict[Node, None] = {}
    for node in nodes:
        given.update(
            (one, None) for one in node.all_input_nodes if one not in inside and one.op != "get_attr"
        )
        if node.op == "get_attr":
            found.params.append(node)
        elif any(user not in inside for user in node.users):
            found.output_nodes.append(node)
    found.input_nodes = list(given)
    return found


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Tell whether the second uses something of the first."""
    return any(user in subgraph2.nodes for node in subgraph1.nodes for user in node.users)
