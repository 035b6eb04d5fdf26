"""Where the boxes of a picture stand: in layers, so that all arrows point down.

The usual three steps: a layer for every node (as far down as the longest path to it), an
order in each layer with few crossings (each node moves to the middle of its neighbours,
layer by layer, there and back), and then positions. Edges that pass a layer bend around
its boxes at a waypoint of their own, which takes part in all steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

ROW_GAP = 34.0
COLUMN_GAP = 22.0
WAYPOINT = 8.0
SWEEPS = 8


@dataclass
class Box:
    """A node, or a waypoint of an edge, with the position of its centre."""

    width: float
    height: float
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    above: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)


@dataclass
class Layout:
    """Boxes, the nodes first; each edge as the boxes that it passes; the size of it all."""

    boxes: list[Box]
    paths: list[list[int]]
    width: float
    height: float


def arrange(sizes: list[tuple[float, float]], edges: list[tuple[int, int]]) -> Layout:
    """Place boxes of these sizes so that every edge, from upper to lower box, points down.

    >>> from rushlight.inspection.layout import arrange
    >>> layout = arrange([(10, 10), (10, 10), (10, 10)], [(0, 1), (0, 2), (1, 2)])
    >>> [box.layer for box in layout.boxes[:3]]
    [0, 1, 2]
    """
    boxes = [Box(width, height) for width, height in sizes]
    _assign_layers(boxes, edges)
    paths = [_path(boxes, upper, lower) for upper, lower in edges]
    layers: list[list[int]] = [[] for _ in range(1 + max((box.layer for box in boxes), default=-1))]
    for number, box in enumerate(boxes):
        layers[box.layer].append(number)
    _order(boxes, layers)
    _place(boxes, layers)
    width = max((box.x + box.width / 2 for box in boxes), default=0.0)
    height = max((box.y + box.height / 2 for box in boxes), default=0.0)
    return Layout(boxes, paths, width, height)


def _assign_layers(boxes: list[Box], edges: list[tuple[int, int]]) -> None:
    """Put every box below all that lead to it, and sources right above what they lead to."""
    lower: list[list[int]] = [[] for _ in boxes]
    waiting = [0] * len(boxes)
    for start, end in edges:
        lower[start].append(end)
        waiting[end] += 1
    order = [number for number, count in enumerate(waiting) if count == 0]
    sources = list(order)
    for number in order:
        for end in lower[number]:
            boxes[end].layer = max(boxes[end].layer, boxes[number].layer + 1)
            waiting[end] -= 1
            if waiting[end] == 0:
                order.append(end)
    for number in sources:
        if lower[number]:
            boxes[number].layer = min(boxes[end].layer for end in lower[number]) - 1


def _path(boxes: list[Box], upper: int, lower: int) -> list[int]:
    """Give an edge a waypoint in each layer between its ends."""
    path = [upper]
    for layer in range(boxes[upper].layer + 1, boxes[lower].layer):
        boxes.append(Box(WAYPOINT, 0.0, layer))
        path.append(len(boxes) - 1)
    path.append(lower)
    for start, end in pairwise(path):
        boxes[start].below.append(end)
        boxes[end].above.append(start)
    return path


def _order(boxes: list[Box], layers: list[list[int]]) -> None:
    """Order each layer by the middle of the neighbours in the one before, down and up again."""
    rank = [0.0] * len(boxes)
    for layer in layers:
        for position, number in enumerate(layer):
            rank[number] = float(position)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            middle = {number: _middle(boxes, rank, number, down) for number in layer}
            layer.sort(key=middle.__getitem__)
            for position, number in enumerate(layer):
                rank[number] = float(position)


def _middle(boxes: list[Box], rank: list[float], number: int, down: bool) -> float:
    neighbours = boxes[number].above if down else boxes[number].below
    if not neighbours:
        return rank[number]
    return sum(rank[other] for other in neighbours) / len(neighbours)


def _place(boxes: list[Box], layers: list[list[int]]) -> None:
    """Set the layers below each other, and draw each box towards the middle of its neighbours."""
    top = 0.0
    for layer in layers:
        height = max(boxes[number].height for number in layer)
        left = 0.0
        for number in layer:
            box = boxes[number]
            # A waypoint is as tall as its layer, so that the edge passes beside the boxes.
            box.height = box.height or height
            box.y = top + height / 2
            box.x = left + box.width / 2
            left += box.width + COLUMN_GAP
        top += height + ROW_GAP
    for sweep in range(2 * SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            _settle(boxes, layer, above=sweep % 2 == 0)
    left = min((box.x - box.width / 2 for box in boxes), default=0.0)
    for box in boxes:
        box.x -= left


def _settle(boxes: list[Box], layer: list[int], above: bool) -> None:
    """Move the boxes of a layer to where they want to be, in their order and without overlap.

    Boxes that want the same room become a block, which stands where its boxes want to be on
    average: the positions with the least squares of all distances.
    """
    blocks: list[tuple[list[int], list[float], float]] = []
    for number in layer:
        box = boxes[number]
        neighbours = (box.above if above else box.below) or box.above or box.below
        wish = sum(boxes[other].x for other in neighbours) / len(neighbours) if neighbours else box.x
        members, offsets, wishes = [number], [0.0], wish
        while blocks:
            others, other_offsets, other_wishes = blocks[-1]
            gap = (boxes[others[-1]].width + boxes[members[0]].width) / 2 + COLUMN_GAP
            start = wishes / len(members)
            other_start = other_wishes / len(others)
            if other_start + other_offsets[-1] + gap <= start:
                break
            blocks.pop()
            shift = other_offsets[-1] + gap
            # In a joined block every wish counts from where the first box stands.
            wishes = other_wishes + wishes - shift * len(members)
            members = others + members
            offsets = other_offsets + [offset + shift for offset in offsets]
        blocks.append((members, offsets, wishes))
    for members, offsets, wishes in blocks:
        for number, offset in zip(members, offsets, strict=True):
            boxes[number].x = wishes / len(members) + offset
