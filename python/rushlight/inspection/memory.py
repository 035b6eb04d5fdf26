"""What memory a graph keeps alive, by the line that recorded it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from .._rushlight import _storage_of
from .graph import graph
from .text import size

if TYPE_CHECKING:
    from .._rushlight import Tensor


class Memory:
    """Bytes that a graph keeps alive; every block counts once, at the first line that keeps it.

    `by_line` holds what nodes keep for backward, `leaves` what the leaves take, `result` the
    memory of the tensor itself, and `total` is the sum of the three.
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
    nodes = graph(tensor).nodes
    seen: set[int] = set()
    leaves = 0
    for node in nodes:
        if node.memory is not None and node.memory.storage not in seen:
            seen.add(node.memory.storage)
            leaves += node.memory.bytes
    by_line: defaultdict[str, int] = defaultdict(int)
    # The line that recorded first is the one that made the memory stay.
    for node in reversed(nodes):
        for saved in node.saved:
            if saved.storage not in seen:
                seen.add(saved.storage)
                by_line[node.place or node.title] += saved.bytes
    storage, count = _storage_of(tensor)
    return Memory(dict(by_line), leaves, 0 if storage in seen else count)
