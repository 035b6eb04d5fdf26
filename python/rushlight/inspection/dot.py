"""The graph in the language of graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text import lines_of

if TYPE_CHECKING:
    from .nodes import Edge, Node


def to_dot(nodes: list[Node], edges: list[Edge]) -> str:
    """Write the graph; forward runs downwards, as the program did."""
    lines = ["digraph {", "  rankdir=TB;", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    for node in nodes:
        label = "\\n".join(_escaped(line) for line in lines_of(node))
        style = ', style="rounded,filled", fillcolor="#e3f1e3"' if node.leaf is not None else ""
        lines.append(f'  n{node.index} [label="{label}"{style}];')
    for edge in edges:
        label = f' [label="{edge.output}"]' if edge.output else ""
        lines.append(f"  n{edge.target} -> n{edge.source}{label};")
    return "\n".join([*lines, "}", ""])


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
