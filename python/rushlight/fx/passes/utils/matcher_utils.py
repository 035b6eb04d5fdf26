"""Places in graphs that do what the graph of a pattern does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...._ops import OpOverload
from ...._rushlight import Tensor
from ...node import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...graph import Graph

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """A place: which of its nodes stands for which of the pattern."""

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Any] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)


class SubgraphMatcher:
    """Finds places that do what a pattern does.

    >>> import rushlight as torch
    >>> from rushlight.fx.passes.utils.matcher_utils import SubgraphMatcher
    >>> pattern = torch.fx.symbolic_trace(lambda a: torch.relu(a + 1)).graph
    >>> graph = torch.fx.symbolic_trace(lambda x, y: torch.relu(x * y + 1)).graph
    >>> [match.returning_nodes for match in SubgraphMatcher(pattern).match(graph)]
    [[relu]]
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern = pattern
        self.match_output, self.match_placeholder = match_output, match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        nodes = list(pattern.nodes)
        if not nodes:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in nodes:
            if node.op != "output" and not node.users and not node.is_impure():
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        self.pattern_placeholder_nodes = [node for node in nodes if node.op == "placeholder"]
        self.pattern_returning_nodes = nodes[-1].all_input_nodes
        ends = [node for node in self.pattern_returning_nodes if len(node.users) == 1]
        self.pattern_anchors = [nodes[-1]] if match_output else ends

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """Return the places, of which nobody uses more than what the pattern returns."""
        candidates = {
            anchor: [node for node in graph.nodes if self._are_alike(anchor, node, node_name_match)]
            for anchor in self.pattern_anchors
        }
        wanted = [(anchor, found) for anchor, found in candidates.items() if found]
        matches = []
        for known in self._found(wanted, {}, node_name_match) if wanted else ():
            inside = {node for one, node in known.items() if one.op not in ("placeholder", "output")}
            if self._is_closed(known) and _is_convex(inside):
                match = InternalMatch(self.pattern_anchors, known)
                match.placeholder_nodes = [known[one] for one in self.pattern_placeholder_nodes]
                match.returning_nodes = [known[one] for one in self.pattern_returning_nodes]
                matches.append((match, inside))
        taken: set[Node] = set()
        kept = []
        for match, inside in matches:
            if not self.remove_overlapping_matches or not inside & taken:
                taken |= inside
                kept.append(match)
        return kept

    def _found(self, wanted: Any, known: dict[Node, Any], name: str) -> Iterator[dict[Node, Any]]:
        """Find a place for each anchor in turn, and go back where there is none."""
        if not wanted:
            yield known
            return
        (anchor, candidates), *others = wanted
        for node in candidates:
            attempt = dict(known)
            if self._match_nodes(anchor, node, attempt, name):
                yield from self._found(others, attempt, name)

    def _are_alike(self, wanted: Node, node: Node, name: str = "") -> bool:
        if not self.match_placeholder and wanted.op == "placeholder":
            return True
        if name and name in node.name:
            return True
        if wanted.op != node.op:
            return False
        if wanted.op == "get_attr":
            return self._match_attributes(wanted, node)
        return wanted.op in ("placeholder", "output") or wanted.target == node.target

    def _match_attributes(self, wanted: Node, node: Node) -> bool:
        """Tell whether both are attributes of one kind: which numbers they have does not matter."""
        one, other = (_attribute(each) for each in (wanted, node))
        if type(one) is not type(other):
            return False
        if not isinstance(one, Tensor):
            raise RuntimeError(f"Unsupported type {one} when matching attributes")
        return True

    def _match_nodes(self, wanted: Node, node: Any, known: dict[Node, Any], name: str = "") -> bool:
        if wanted in known:
            return bool(known[wanted] is node)
        if any(node is one for one in known.values()) or not self._are_alike(wanted, node, name):
            return False
        known[wanted] = node
        if wanted.op == "placeholder":
            return True
        pair = _arguments(wanted, node)
        return pair is not None and self._match_all(*pair, known)

    def _match_all(self, wanted: Any, given: Any, known: dict[Node, Any]) -> bool:
        return len(wanted) == len(given) and all(
            self._match_value(one, other, known) for one, other in zip(wanted, given, strict=True)
        )

    def _match_value(self, wanted: Any, given: Any, known: dict[Node, Any]) -> bool:
        if isinstance(wanted, Node) and isinstance(given, Node):
            return self._match_nodes(wanted, given, known)
        if isinstance(wanted, (list, tuple)) and isinstance(given, (list, tuple)):
            return self._match_all(wanted, given, known)
        if isinstance(wanted, Node) and wanted.op == "placeholder":
            return bool(known.setdefault(wanted, given) == given) or self.ignore_literals
        is_equal = not isinstance(given, Node) and type(wanted) is type(given) and wanted == given
        return bool(is_equal) or self.ignore_literals

    def _is_closed(self, known: dict[Node, Any]) -> bool:
        """Tell whether others use only what the pattern returns."""
        inside = {node: one for one, node in known.items() if one.op != "placeholder"}
        return all(
            one in self.pattern_returning_nodes or inside.keys() >= set(node.users)
            for node, one in inside.items()
        )


def _attribute(node: Node) -> Any:
    found: Any = node.graph.owning_module
    if found is None:
        raise AssertionError("owning_module must not be None")
    for name in str(node.target).split("."):
        found = getattr(found, name)
    return found


def _arguments(wanted: Node, node: Node) -> tuple[list[Any], list[Any]] | None:
    """Return the arguments of two calls one by one, if they can be compared so."""
    if len(wanted.args) == len(node.args) and list(wanted.kwargs) == list(node.kwargs):
        return [*wanted.args, *wanted.kwargs.values()], [*node.args, *node.kwargs.values()]
    if wanted.op != "call_function" or not isinstance(wanted.target, OpOverload):
        return None
    schema = wanted.target._schema.arguments
    return _in_order(wanted, schema), _in_order(node, schema)


def _in_order(node: Node, schema: Any) -> list[Any]:
    def one(index: int, argument: Any) -> Any:
        if argument.name in node.kwargs:
            return node.kwargs[argument.name]
        is_given = not argument.kwarg_only and index < len(node.args)
        return node.args[index] if is_given else argument.default_value

    return [one(index, argument) for index, argument in enumerate(schema)]


def _is_convex(inside: Iterable[Node]) -> bool:
    """Tell whether no way between two nodes leads through others: they could be one node."""
    inside = set(inside)
    left = [user for node in inside for user in node.users if user not in inside]
    seen: set[Node] = set()
    while left:
        node = left.pop()
        if node in inside:
            return False
        if node not in seen:
            seen.add(node)
            left.extend(node.users)
    return True
