"""The parts of a graph: operations with what they keep, and what leads from one to another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._messages.origins import Origin
    from .._rushlight import Tensor


@dataclass(frozen=True)
class Saved:
    """A tensor that a node keeps for backward, and the block of memory that it lies in."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    storage: int
    bytes: int


@dataclass(frozen=True)
class Edge:
    """Where gradients go: from an input of one node to an output of another."""

    source: int
    input: int
    target: int
    output: int


@dataclass(frozen=True)
class Node:
    """A recorded operation, or a leaf that gradients are accumulated into."""

    index: int
    name: str
    outputs: tuple[tuple[tuple[int, ...], Any], ...]
    origin: Origin | None
    saved: tuple[Saved, ...]
    leaf: Tensor | None = field(repr=False)
    #: The leaf's memory.
    memory: Saved | None = field(repr=False)
    #: The Python objects that the node keeps: hooks, what was saved in packed form, a function's context.
    held: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first output."""
        return self.outputs[0][0]

    @property
    def dtype(self) -> Any:
        """The element type of the first output."""
        return self.outputs[0][1]

    @property
    def saved_bytes(self) -> int:
        """Bytes of the blocks that the node keeps, each counted once."""
        return sum({saved.storage: saved.bytes for saved in self.saved}.values())

    @property
    def title(self) -> str:
        """The operation, or `leaf`."""
        return "leaf" if self.leaf is not None else self.name.rpartition("::")[2]

    @property
    def place(self) -> str:
        """The line that recorded the node, as `file:line`, or nothing if it is unknown."""
        return "" if self.origin is None else f"{self.origin.file}:{self.origin.line}"
