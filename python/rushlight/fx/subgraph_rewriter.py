"""Parts of graphs exchanged for others."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule, _take
from .node import Node, map_arg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """Where a pattern was found: the last node of the pattern, and which node stands for which of it."""

    anchor: Node
    nodes_map: dict[Node, Node]


class ReplacedPatterns(NamedTuple):
    """Where a pattern was found, and the nodes that took its place."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Exchange every part of a graph that does what `pattern` does for what `replacement` does.

    >>> import rushlight as torch
    >>> traced = torch.fx.symbolic_trace(lambda x, y: torch.relu(x + y) + 1)
    >>> pattern, other = lambda a, b: torch.relu(a + b), lambda a, b: torch.tanh(a * b)
    >>> found = torch.fx.replace_pattern(traced, pattern, other)
    >>> print(traced.code.strip())
    def forward(self, x, y):
        mul = x * y;  x = y = None
        tanh = torch.tanh(mul);  mul = None
        add_1 = tanh + 1;  tanh = None
        return add_1
    """
    replaced = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(one.anchor, one.nodes_map) for one in replaced]


def _graph_of(what: Any) -> Graph:
    if isinstance(what, GraphModule):
        return what.graph
    return what if isinstance(what, Graph) else symbolic_trace(what).graph


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Any,
    replacement: Any = None,
    match_filters: Iterable[Callable[..., bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[..., Graph] | None = None,
) -> list[ReplacedPatterns]:
    """Exchange parts of a graph where all filters, called with the match and both graphs, agree."""
    original, wanted = gm.graph, _graph_of(pattern)
    substitute = None if replacement is None else _graph_of(replacement)
    done: list[ReplacedPatterns] = []
    changed: dict[Node, Node] = {}
    for match in _matches(original, wanted, ignore_literals):
        if not all(agrees(match, original, wanted) for agrees in match_filters or ()):
            continue
        graph = replacement_callback(match, original, wanted) if replacement_callback else substitute
        if graph is None:
            raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
        done.append(_exchange(original, wanted, graph, match, changed))
    gm.recompile()
    for source in (pattern, replacement):
        if done and hasattr(source, "named_modules"):
            _take_missing(gm, source)
    return done


def _matches(graph: Graph, pattern: Graph, ignore_literals: bool) -> list[Match]:
    """Return where the pattern is found, no node in two places."""
    outputs = pattern.output_node().all_input_nodes
    if not outputs:
        return []
    taken: set[Node] = set()
    found = []
    inner = [node for node in pattern.nodes if node.op not in ("placeholder", "output")]
    for node in graph.nodes:
        nodes_map: dict[Node, Node] = {}
        if node.op in ("placeholder", "output") or not _same(outputs[0], node, nodes_map, ignore_literals):
            continue
        if not all(_elsewhere(graph, one, nodes_map, ignore_literals) for one in outputs[1:]):
            continue
        inside = {nodes_map[one] for one in inner if one in nodes_map}
        if len(inside) < len(inner) or inside & taken or not _is_closed(inner, outputs, nodes_map):
            continue
        taken |= inside
        found.append(Match(outputs[0], nodes_map))
    return found


def _elsewhere(graph: Graph, wanted: Node, nodes_map: dict[Node, Node], ignore_literals: bool) -> bool:
    if wanted in nodes_map:
        return True
    for node in graph.nodes:
        attempt = dict(nodes_map)
        if _same(wanted, node, attempt, ignore_literals):
            nodes_map.update(attempt)
            return True
    return False


def _is_closed(inner: list[Node], outputs: list[Node], nodes_map: dict[Node, Node]) -> bool:
    """Tell whether nobody outside uses what is inside."""
    inside = {nodes_map[one] for one in inner}
    return all(set(nodes_map[one].users) <= inside for one in inner if one not in outputs)


def _same(wanted: Node, node: Node, nodes_map: dict[Node, Node], ignore_literals: bool) -> bool:
    """Tell whether a node does what one of the pattern does, with the same kind of arguments."""
    stack = [(wanted, node)]
    while stack:
        left, right = stack.pop()
        if left in nodes_map:
            if nodes_map[left] is not right:
                return False
            continue
        if left.op != "placeholder":
            if (left.op, left.target) != (right.op, right.target) or left.op == "get_attr" != right.op:
                return False
            pairs: list[tuple[Any, Any]] = []
            if not _pair((left.args, left.kwargs), (right.args, right.kwargs), pairs):
                return False
            for one, other in pairs:
                if isinstance(one, Node) and isinstance(other, Node):
                    stack.append((one, other))
                elif isinstance(one, Node) != isinstance(other, Node):
                    if not (isinstance(one, Node) and one.op == "placeholder" and ignore_literals):
                        return False
                elif not ignore_literals and (type(one) is not type(other) or one != other):
                    return False
        nodes_map[left] = right
    return True


def _pair(left: Any, right: Any, pairs: list[tuple[Any, Any]]) -> bool:
    if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)):
        return len(left) == len(right) and all(_pair(*both, pairs) for both in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_pair(left[key], right[key], pairs) for key in left)
    pairs.append((left, right))
    return True


def _exchange(
    graph: Graph, pattern: Graph, substitute: Graph, match: Match, changed: dict[Node, Node]
) -> ReplacedPatterns:
    """Put copies of a graph where a match is, and take the match out."""
    inputs = [node for node in pattern.nodes if node.op == "placeholder"]
    given = [node for node in substitute.nodes if node.op == "placeholder"]
    values: dict[Node, Any] = {}
    for one, other in zip(given, inputs, strict=True):
        node = match.nodes_map[other]
        values[one] = changed.get(node, node)
    before = set(graph.nodes)
    old = [match.nodes_map[one] for one in pattern.output_node().all_input_nodes]
    users = {user for one in old for user in one.users}
    # After everything that is used, and before everybody who uses it.
    first = next((one for one in graph.nodes if one in users), match.nodes_map[match.anchor])
    with graph.inserting_before(first):
        result = graph.graph_copy(substitute, values)
    made = [one for one in graph.nodes if one not in before]
    new: list[Node] = []
    map_arg(result, lambda one: new.append(one) or one)  # type: ignore[func-returns-value]
    if len(old) != len(new):
        raise AssertionError("The pattern and the replacement return different numbers of values")
    for one, other in zip(old, new, strict=True):
        one.replace_all_uses_with(other)
        changed[one] = other
    for node in reversed(list(pattern.nodes)):
        if node.op not in ("placeholder", "output"):
            graph.erase_node(match.nodes_map[node])
    return ReplacedPatterns(match.anchor, match.nodes_map, made)


def _take_missing(gm: GraphModule, source: Any) -> None:
    """Give the module what new nodes call and read."""
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr"):
            try:
                gm.get_submodule(node.target.rpartition(".")[0]).__getattr__(node.target.rpartition(".")[2])
            except AttributeError:
                _take(copy.deepcopy(source), gm, node.target)
    gm.delete_all_unused_submodules()
