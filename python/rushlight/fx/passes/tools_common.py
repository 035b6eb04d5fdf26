"""Graphs put in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._naming import qualified_name
from ..graph import Graph
from ..node import Node

if TYPE_CHECKING:
    from ..graph_module import GraphModule

__all__ = ["CALLABLE_NODE_OPS", "get_acc_ops_name", "get_node_target", "legalize_graph"]

CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


def get_node_target(submodules: Any, node: Node) -> str:
    """Return what a node calls, as text."""
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(f"Expect op types of {', '.join(CALLABLE_NODE_OPS)}, but found {node.op}")
    if node.op == "call_module":
        kind = type(submodules[node.target])
        return f"{kind.__module__}.{kind.__qualname__}"
    return qualified_name(node.target) if node.op == "call_function" else str(node.target)


def get_acc_ops_name(k: Any) -> str:
    """Return the name of a function, or a text as it is."""
    return k if isinstance(k, str) else f"{k.__module__}.{k.__name__}"


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Put the nodes of a graph into an order in which each comes after what it uses.

    >>> import rushlight as torch
    >>> from rushlight.fx.passes.tools_common import legalize_graph
    >>> [node.name for node in legalize_graph(torch.fx.symbolic_trace(lambda x: x + x * 2)).graph.nodes]
    ['x', 'mul', 'add', 'output']
    """
    waiting = {node: len(node.all_input_nodes) for node in gm.graph.nodes}
    ready = [node for node, count in waiting.items() if not count]
    ordered = Graph(tracer_cls=gm.graph._tracer_cls)
    ordered._codegen = gm.graph._codegen
    made: dict[Node, Node] = {}
    for node in ready:
        # What becomes ready on the way comes at the end.
        made[node] = ordered.node_copy(node, made.__getitem__)
        for user in node.users:
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    if len(made) < len(waiting):
        raise RuntimeError(f"Input graph has cycles, unable to add {[n for n in waiting if n not in made]}")
    gm.graph = ordered
    return gm
