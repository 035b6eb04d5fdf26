"""What is computed twice of the same: once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._ops import ops
from ...utils._pytree import tree_flatten
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node
from .infra.pass_base import PassBase, PassResult

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["CSEPass", "get_CSE_banned_ops"]

_RANDOM = (
    "dropout _fused_dropout _standard_gamma bernoulli multinomial native_dropout normal poisson binomial "
    "rrelu rand_like rand randint randn randperm"
)
_IN_PLACE = "add_ sub_ mul_ div_ pow_ lerp_ relu_ sigmoid_ tanh_"


def get_CSE_banned_ops() -> set[Any]:
    """Return operators of which two calls are two things: random ones, and those that write."""
    names = f"{_RANDOM} {_IN_PLACE}".split()
    return {getattr(ops.aten, name) for name in names if hasattr(ops.aten, name)}


class CSEPass(PassBase):
    """Leaves one of all nodes that call the same function with the same arguments.

    >>> import rushlight as torch
    >>> from rushlight.fx.passes.dialect.common.cse_pass import CSEPass
    >>> traced = torch.fx.symbolic_trace(lambda x: (x + 1) * (x + 1))
    >>> [node.name for node in CSEPass()(traced).graph_module.graph.nodes]
    ['x', 'add', 'mul', 'output']
    """

    def __init__(self, banned_ops: Collection[Any] | None = None) -> None:
        self.banned_ops = set(banned_ops or ())
        super().__init__()

    def call(self, graph_module: GraphModule) -> PassResult:
        """Return the module with fewer nodes, or as it is."""
        graph = Graph()
        known: dict[Node, Node] = {}
        called: dict[Any, Node] = {}
        for node in graph_module.graph.nodes:
            is_kept = node.op in ("placeholder", "output", "get_attr")
            if is_kept or getattr(node.target, "overloadpacket", node.target) in self.banned_ops:
                known[node] = graph.node_copy(node, known.__getitem__)
                continue
            values, form = tree_flatten((node.args, dict(node.kwargs)))
            parts = (known.get(one, one) if isinstance(one, Node) else one for one in values)
            call = node.op, node.target, tuple(parts), repr(form)
            if call not in called:
                called[call] = graph.node_copy(node, known.__getitem__)
            known[node] = called[call]
        is_modified = len(graph.nodes) < len(graph_module.graph.nodes)
        return PassResult(GraphModule(graph_module, graph) if is_modified else graph_module, is_modified)
