"""What memory a graph keeps alive, by the line that recorded it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, _storage_of
from .graph import checked, graph_of
from .reach import reached
from .text import size

if TYPE_CHECKING:
    from .nodes import Node


class Memory:
    """Bytes that a graph keeps alive; every block counts once, at the first line that keeps it.

    `by_line` holds what nodes keep for backward, by themselves or by way of Python objects (hooks, packed
    tensors, attributes of contexts), `leaves` what the leaves and their gradients take, `result` the memory
    of the tensor itself, and `total` is the sum of the three.
    """

    def __init__(self, by_line: dict[str, int], leaves: int, result: int) -> None:
        self.by_line = by_line
        self.leaves = leaves
        self.result = result

    @property
    def saved(self) -> int:
        """Bytes that nodes keep for backward, without the memory of leaves."""
        return sum(self.by_line.values())

    @property
    def total(self) -> int:
        """All bytes."""
        return self.saved + self.leaves + self.result

    def __int__(self) -> int:
        return self.total

    def __repr__(self) -> str:
        return f"<memory of a graph: {size(self.total)}>"

    def __str__(self) -> str:
        rows = sorted(self.by_line.items(), key=lambda row: -row[1])
        rows += [("leaves", self.leaves), ("the tensor itself", self.result), ("total", self.total)]
        return "\n".join(f"{size(count):>9}  {line}" for line, count in rows)


def memory(tensor: Tensor) -> Memory:
    """Total the bytes that the graph of `tensor` keeps alive, by source line.

    >>> import rushlight as torch
    >>> x = torch.ones(1000, requires_grad=True)
    >>> found = torch.inspection.memory((x.exp() * 2).sum())
    >>> 4000 <= found.saved < 4100, 4000 <= found.leaves < 4100
    (True, True)
    """
    nodes = _everything(tensor)
    seen: set[int] = set()
    leaves = 0
    for node, _ in nodes:
        if node.leaf is None or node.memory is None:
            continue
        gradient = [] if node.leaf.grad is None else [_storage_of(node.leaf.grad)]
        for storage, count in [(node.memory.storage, node.memory.bytes), *gradient]:
            if storage not in seen:
                seen.add(storage)
                leaves += count
    by_line: defaultdict[str, int] = defaultdict(int)
    # The line that recorded first is the one that made the memory stay.
    for node, tensors in reversed(nodes):
        held = [_storage_of(one) for one in tensors]
        for storage, count in [*((saved.storage, saved.bytes) for saved in node.saved), *held]:
            if storage not in seen:
                seen.add(storage)
                by_line[node.place or node.title] += count
    storage, count = _storage_of(tensor)
    return Memory(dict(by_line), leaves, 0 if storage in seen else count)


def _everything(tensor: Tensor) -> list[tuple[Node, list[Tensor]]]:
    """Return the nodes that a tensor keeps alive, with the tensors that their Python objects keep.

    Such an object may lead to further graphs, as what a checkpoint is computed again from does.
    """
    starts: list[Any] = [checked(tensor)]
    known = {id(tensor)}
    count = 0
    while count < len(starts):
        count = len(starts)
        seen: set[int] = set()
        nodes = []
        # What recorded first is the first to keep what several keep.
        for node in reversed(graph_of(starts).nodes):
            found = list(reached(node.held, seen))
            nodes.append((node, [one for one in found if isinstance(one, Tensor)]))
            gradient = None if node.leaf is None else node.leaf.grad
            for one in found if gradient is None else [*found, gradient]:
                if id(one) not in known:
                    known.add(id(one))
                    starts.append(one)
    return nodes[::-1]
