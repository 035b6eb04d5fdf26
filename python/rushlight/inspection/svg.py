"""A drawing of the graph, made of text: leaves above, the result below, as the program ran."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .layout import Box, arrange
from .text import lines_of

if TYPE_CHECKING:
    from .nodes import Edge, Node

LINE = 15.0
PADDING = 9.0
MARGIN = 12.0

#: Average widths of a character, bold and plain, at the sizes of `_STYLE`.
_TITLE_WIDTH, _TEXT_WIDTH = 8.6, 6.4

_STYLE = """
.rushlight-graph text { font: 11px system-ui, sans-serif; fill: #48525c; text-anchor: middle }
.rushlight-graph .title { font: 600 13px system-ui, sans-serif; fill: #16202a }
.rushlight-graph .place { font: 10px ui-monospace, monospace; fill: #6b7780 }
.rushlight-graph rect { fill: #f5f8fb; stroke: #8fa3b5; stroke-width: 1.2 }
.rushlight-graph .leaf rect { fill: #e6f3e4; stroke: #79a773 }
.rushlight-graph .result rect { fill: #fdf0dc; stroke: #cf9d4e }
.rushlight-graph path { fill: none; stroke: #94a2ae; stroke-width: 1.3 }
.rushlight-graph .head { fill: #94a2ae; stroke: none }
"""


def to_svg(nodes: list[Node], edges: list[Edge]) -> str:
    """Draw the graph."""
    texts = [lines_of(node) for node in nodes]
    layout = arrange([_size(lines) for lines in texts], _arrows(edges))
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    parts = [
        f'<svg class="rushlight-graph" xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="{-MARGIN:.0f} {-MARGIN:.0f} {width:.0f} {height:.0f}">',
        f"<style>{_STYLE}</style>",
    ]
    parts += [_arrow([layout.boxes[number] for number in path]) for path in layout.paths]
    for node, lines, box in zip(nodes, texts, layout.boxes, strict=False):
        parts.append(_box(node, lines, box, is_result=node.index == 0))
    return "\n".join([*parts, "</svg>"])


def _arrows(edges: list[Edge]) -> list[tuple[int, int]]:
    """Return the edges in the direction of the program; one that is there twice is drawn once."""
    return list(dict.fromkeys((edge.target, edge.source) for edge in edges))


def _size(lines: list[str]) -> tuple[float, float]:
    width = max([len(lines[0]) * _TITLE_WIDTH, *(len(line) * _TEXT_WIDTH for line in lines[1:])])
    return width + 2 * PADDING, LINE * len(lines) + 1.4 * PADDING


def _box(node: Node, lines: list[str], box: Box, is_result: bool) -> str:
    kind = "leaf" if node.leaf is not None else "result" if is_result else "node"
    left, top = box.x - box.width / 2, box.y - box.height / 2
    parts = [
        f'<g class="{kind}">',
        f"<title>{escape(_tooltip(node))}</title>",
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="6"/>',
    ]
    for number, line in enumerate(lines):
        is_place = node.origin is not None and number == len(lines) - 1
        style = ' class="title"' if number == 0 else ' class="place"' if is_place else ""
        y = top + 0.7 * PADDING + LINE * (number + 0.75)
        parts.append(f'<text x="{box.x:.1f}" y="{y:.1f}"{style}>{escape(line)}</text>')
    return "\n".join([*parts, "</g>"])


def _tooltip(node: Node) -> str:
    return node.name if node.origin is None else f"{node.name}\n{node.origin:line}"


def _arrow(boxes: list[Box]) -> str:
    """Draw an edge: a curve from box to box that leaves and arrives vertically."""
    first, last = boxes[0], boxes[-1]
    x, y = first.x, first.y + first.height / 2
    path = [f"M{x:.1f} {y:.1f}"]
    for box in boxes[1:]:
        end = box.y - box.height / 2 - (5 if box is last else 0)
        middle = (y + end) / 2
        path.append(f"C{x:.1f} {middle:.1f} {box.x:.1f} {middle:.1f} {box.x:.1f} {end:.1f}")
        x, y = box.x, end
        if box is not last:
            y += box.height
            path.append(f"V{y:.1f}")
    head = f"M{x - 3.5:.1f} {y - 1:.1f}L{x + 3.5:.1f} {y - 1:.1f}L{x:.1f} {y + 5:.1f}Z"
    return f'<path d="{"".join(path)}"/><path class="head" d="{head}"/>'
