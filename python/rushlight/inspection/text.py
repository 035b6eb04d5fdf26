"""What a picture of the graph says in the box of a node."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .nodes import Node

_UNITS = ("B", "KB", "MB", "GB", "TB")


def size(count: float) -> str:
    """Write a number of bytes in three digits.

    >>> from rushlight.inspection.text import size
    >>> size(24), size(4096), size(1_500_000)
    ('24 B', '4 KB', '1.43 MB')
    """
    unit = 0
    while count >= 1024 and unit + 1 < len(_UNITS):
        count /= 1024
        unit += 1
    return f"{count:.3g} {_UNITS[unit]}" if count < 1000 else f"{count:.0f} {_UNITS[unit]}"


def shape(sizes: tuple[int, ...]) -> str:
    """Write a shape: `2 × 3`."""
    return " × ".join(map(str, sizes)) if sizes else "scalar"


def lines_of(node: Node) -> list[str]:
    """Return what is known of a node: operation, shape and type, memory, source line."""
    dtype = str(node.dtype).rpartition(".")[2]
    lines = [node.title, f"{shape(node.shape)}  {dtype}"]
    if len(node.outputs) > 1:
        lines[1] += f"  (+ {len(node.outputs) - 1} more)"
    if node.saved:
        names = ", ".join(dict.fromkeys(saved.name for saved in node.saved))
        lines.append(f"keeps {names}: {size(node.saved_bytes)}")
    if node.origin is not None:
        lines.append(f"{os.path.basename(node.origin.file)}:{node.origin.line}")
    return lines
