"""Small questions about graphs."""

from __future__ import annotations

from typing import Any

__all__ = ["get_node_context", "lazy_format_graph_code"]


def lazy_format_graph_code(name: str, gm: Any, maybe_id: Any = None, **options: Any) -> str:
    """Return the code of a module, with a title."""
    return f"===== {name} =====\n{gm.code}"


def get_node_context(node: Any, num_nodes: int = 2) -> str:
    """Return a node and those before it, line by line."""
    lines: list[str] = []
    while node.op != "root" and len(lines) < num_nodes:
        lines.insert(0, node.format_node())
        node = node.prev
    return "\n".join(lines)
