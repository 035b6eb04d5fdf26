"""Places in graphs that do what a pattern does, whose nodes have the names that the pattern gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....utils._pytree import tree_flatten, tree_unflatten
from .matcher_utils import InternalMatch, SubgraphMatcher

if TYPE_CHECKING:
    from ...graph import Graph
    from ...graph_module import GraphModule
    from ...node import Node

__all__ = ["SubgraphMatcherWithNameNodeMap"]


def _split_to_graph_and_name_node_map(gm: GraphModule) -> tuple[GraphModule, dict[str, Node]]:
    """Take the names from the end of what a pattern returns."""
    (output,) = gm.graph.find_nodes(op="output")
    returned: Any = output.args[0]
    form = getattr(gm, "_out_spec", None)
    if form is not None:
        returned = tree_unflatten(returned, form)
    if not isinstance(returned, tuple):
        raise AssertionError("Expecting the pattern graph to return a tuple")
    if len(returned) < 2:
        raise AssertionError("Expecting the pattern graph to have at least two outputs")
    *results, names = returned
    if not isinstance(names, dict):
        raise AssertionError("Expecting the input graph to have a dict output as the last element")
    output.args = (tree_flatten(results)[0],)
    gm.recompile()
    return gm, names


class SubgraphMatcherWithNameNodeMap(SubgraphMatcher):
    """Finds places that do what a pattern does; it returns names of its nodes in a dictionary at the end.

    >>> import rushlight as torch
    >>> def pattern(a):
    ...     product = a * 2
    ...     return product.relu(), {"product": product}
    >>> graph = torch.fx.symbolic_trace(lambda x: (x * 2).relu() + 1).graph
    >>> matcher = SubgraphMatcherWithNameNodeMap(torch.fx.symbolic_trace(pattern))
    >>> [match.name_node_map for match in matcher.match(graph)]
    [{'product': mul}]
    """

    def __init__(self, pattern_gm: GraphModule, *options: Any, **named: Any) -> None:
        pattern_gm, self.name_node_map = _split_to_graph_and_name_node_map(pattern_gm)
        super().__init__(pattern_gm.graph, *options, **named)

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """Return the places, with names."""
        matches = super().match(graph, node_name_match)
        for match in matches:
            match.name_node_map = {name: match.nodes_map[node] for name, node in self.name_node_map.items()}
        return matches
