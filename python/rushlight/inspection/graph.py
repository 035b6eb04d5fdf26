"""The graph behind a tensor as Python data: nodes with shapes, source lines and what they keep."""

from __future__ import annotations

from typing import Any

from .._rushlight import Tensor, _graph_of
from .nodes import Edge, Node, Saved


class Graph:
    """What a tensor was computed from.

    `nodes` come in an order in which gradients may visit them; `edges` lead from a node to
    where its inputs came from.
    """

    def __init__(self, nodes: list[Node], edges: list[Edge]) -> None:
        self.nodes = nodes
        self.edges = edges

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def saved_bytes(self) -> int:
        """Bytes of all blocks that nodes keep for backward, each counted once."""
        return sum({saved.storage: saved.bytes for node in self.nodes for saved in node.saved}.values())

    def to_dot(self) -> str:
        """Describe the graph in the language of graphviz."""
        from .dot import to_dot

        return to_dot(self.nodes, self.edges)

    def to_svg(self) -> str:
        """Draw the graph."""
        from .svg import to_svg

        return to_svg(self.nodes, self.edges)

    def _repr_html_(self) -> str:
        """Draw the graph in a notebook."""
        return f'<div style="overflow:auto; max-height:80vh">{self.to_svg()}</div>'

    def __repr__(self) -> str:
        return f"<graph of {len(self.nodes)} nodes and {len(self.edges)} edges>"

    def __str__(self) -> str:
        lines = []
        for node in self.nodes:
            shape = "x".join(map(str, node.shape)) or "scalar"
            keeps = f", keeps {node.saved_bytes} bytes" if node.saved else ""
            place = f"  {node.place}" if node.place else ""
            lines.append(f"{node.index:>4}  {node.title} {shape}{keeps}{place}")
        return "\n".join(lines)


def graph(tensor: Tensor) -> Graph:
    """Return the graph behind `tensor`; what is not recorded has none.

    >>> import rushlight as torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> print([node.title for node in torch.graph((x * x).sum()).nodes])
    ['SumBackward0', 'MulBackward0', 'leaf']
    """
    return graph_of([checked(tensor)])


def checked(tensor: Tensor) -> Tensor:
    """Return what `graph` is asked for, which is to be a tensor."""
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"graph(): argument 'tensor' (position 1) must be Tensor, not {type(tensor).__name__}"
        )
    return tensor


def graph_of(starts: list[Any]) -> Graph:
    """Return the graph behind tensors and nodes."""
    rows = _graph_of(starts)
    order = _visiting_order(rows)
    position = {number: index for index, number in enumerate(order)}
    nodes = [
        Node(
            index=index,
            name=rows[number]["name"],
            outputs=tuple(rows[number]["outputs"]),
            origin=rows[number]["origin"],
            saved=tuple(Saved(*saved) for saved in rows[number]["saved"]),
            leaf=rows[number]["leaf"],
            memory=None if rows[number]["memory"] is None else Saved(*rows[number]["memory"]),
            held=tuple(rows[number]["held"]),
        )
        for index, number in enumerate(order)
    ]
    edges = [
        Edge(index, place, position[edge[0]], edge[1])
        for index, number in enumerate(order)
        for place, edge in enumerate(rows[number]["edges"])
        if edge is not None
    ]
    return Graph(nodes, edges)


def _visiting_order(rows: list[dict[str, Any]]) -> list[int]:
    """Put every node after all that lead to it."""
    waiting = [0] * len(rows)
    for row in rows:
        for edge in row["edges"]:
            if edge is not None:
                waiting[edge[0]] += 1
    ready = [number for number, count in enumerate(waiting) if count == 0]
    order = []
    while ready:
        number = ready.pop()
        order.append(number)
        for edge in reversed(rows[number]["edges"]):
            if edge is not None:
                waiting[edge[0]] -= 1
                if waiting[edge[0]] == 0:
                    ready.append(edge[0])
    return order
