"""Groups of nodes that somebody can compute as one, as large as they can be."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ..._naming import qualified_name
from ...node import Node
from ..utils.fuser_utils import downstream, fuse_by_partitions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...graph_module import GraphModule
    from ..operator_support import OperatorSupportBase

__all__ = ["CapabilityBasedPartitioner", "Partition"]


class Partition:
    """Nodes that are computed as one."""

    def __init__(
        self,
        id: int | None = None,
        nodes: Iterable[Node] | None = None,
        node_orders: Iterable[int] | None = None,
    ) -> None:
        self.id = id
        given = list(nodes or ())
        orders: list[int | None] = list(node_orders or ()) or [None] * len(given)
        self.nodes: dict[Node, int | None] = dict(zip(given, orders, strict=True))

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        """Take a node in."""
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        """Leave a node out."""
        del self.nodes[node]

    def size(self) -> int:
        """Return how many nodes there are."""
        return len(self.nodes)


class CapabilityBasedPartitioner:
    """Finds groups of nodes that `operator_support` says yes to, and makes modules of them.

    >>> import rushlight as torch
    >>> from rushlight.fx.passes.operator_support import OperatorSupport
    >>> traced = torch.fx.symbolic_trace(lambda x: ((x + 1) + 2).relu() + 3)
    >>> adds = OperatorSupport({"_operator.add": None})
    >>> found = CapabilityBasedPartitioner(traced, adds).partition_and_fuse()
    >>> [node.name for node in found.graph.nodes]
    ['x', 'fused_0', 'relu', 'add_2', 'output']
    """

    def __init__(
        self,
        graph_module: GraphModule,
        operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False,
        non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None,
        skip_horizontal_fusion: bool = False,
    ) -> None:
        self.graph_module, self.operator_support = graph_module, operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = list(non_compute_ops or ())
        self.allowed_single_node_partition_ops = list(allowed_single_node_partition_ops or ())
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def _is_node_supported(self, node: Node) -> bool:
        modules = dict(self.graph_module.named_modules())
        return self.operator_support.is_node_supported(modules, node)

    def propose_partitions(self) -> list[Partition]:
        """Return groups, the last of the graph first."""
        modules = dict(self.graph_module.named_modules())
        places = {node: place for place, node in enumerate(self.graph_module.graph.nodes)}
        groups: list[Partition] = []
        group_of: dict[Node, Partition] = {}
        for node in reversed(places):
            if node.op in ("placeholder", "output") or not self.operator_support.is_node_supported(
                modules, node
            ):
                continue
            own = Partition(len(groups), [node], [places[node]])
            groups.append(own)
            group_of[node] = own
            for other in groups[:-1]:
                if other.nodes and self._may_join(own, other, group_of):
                    _join(other, own, group_of)
                    own = other
        _return_parts_of_tuples(places, group_of)
        found = [group for group in groups if group.nodes and self._is_worth_it(group)]
        for number, group in enumerate(found):
            group.id = number
        return found

    def _may_join(self, one: Partition, other: Partition, group_of: dict[Node, Partition]) -> bool:
        """Tell whether two groups may be one: no way leads out of it and back."""
        if self.skip_horizontal_fusion and not _touch(one, other):
            return False
        together = {**one.nodes, **other.nodes}
        return not any(node in together for node in downstream(together, group_of))

    def _is_worth_it(self, group: Partition) -> bool:
        if self.allows_single_node_partition:
            return True
        idle = {*self.non_compute_ops, "torch.ops.aten.view", "_operator.getitem"}
        names = [qualified_name(node.target) for node in group.nodes if node.op == "call_function"]
        counted = [name for name in names if name not in idle]
        return len(counted) > 1 or any(name in self.allowed_single_node_partition_ops for name in counted)

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """Make a module of each group, and return the graph with calls of them."""
        return fuse_by_partitions(self.graph_module, [one.nodes for one in partitions], prefix)

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Leave nodes that compute nothing out of groups at whose beginning or end they are."""
        idle = set(self.non_compute_ops)
        for group in partitions:
            is_over = False
            while not is_over:
                at_an_end = [
                    node
                    for node in group.nodes
                    if node.op == "call_function"
                    and qualified_name(node.target) in idle
                    and not (
                        any(one in group.nodes for one in node.all_input_nodes)
                        and any(one in group.nodes for one in node.users)
                    )
                ]
                for node in at_an_end:
                    group.remove_node(node)
                is_over = not at_an_end

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """Find the groups and make modules of them."""
        return self.fuse_partitions(self.propose_partitions(), prefix)


def _touch(one: Partition, other: Partition) -> bool:
    """Tell whether a node of one group gives something to one of another."""
    pairs = ((one, other), (other, one))
    return any(user in second.nodes for first, second in pairs for node in first.nodes for user in node.users)


def _join(into: Partition, gone: Partition, group_of: dict[Node, Partition]) -> None:
    into.nodes.update(gone.nodes)
    group_of.update(dict.fromkeys(gone.nodes, into))
    gone.nodes.clear()


def _return_parts_of_tuples(places: dict[Node, int], group_of: dict[Node, Partition]) -> None:
    """Have what takes an entry of a tuple where what gives the tuple is: in its group, or in none."""
    for node, place in places.items():
        if not _is_entry(node):
            continue
        given: Any = node.args[0]
        home, now = group_of.get(given), group_of.get(node)
        if home is now or not all(map(_is_entry, given.users)):
            continue
        if now is not None:
            now.remove_node(node)
            del group_of[node]
        if home is not None:
            home.add_node(node, place)
            group_of[node] = home


def _is_entry(node: Node) -> bool:
    return node.op == "call_function" and node.target is operator.getitem
