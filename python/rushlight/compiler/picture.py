"""A picture of a program: its operations in order, those that are computed together in one frame."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_WIDTH, _LINE, _GAP, _LETTER = 720, 18, 6, 7
_MOST = 400
"""Lines of text that are drawn."""


def _lines(names: Iterable[str]) -> list[str]:
    """Return names, those that follow themselves once with their number."""
    counted = ((name.removesuffix("Backward0"), len(list(same))) for name, same in groupby(names))
    return [name if count == 1 else f"{count} × {name}" for name, count in counted]


def picture(operations: list[tuple[str, int, bool]]) -> str:
    """Draw operations: the name of each, the number of its group, and whether it is in kept memory."""
    frames = []
    for (_, in_place), group in groupby(operations, key=lambda operation: (operation[1], operation[2])):
        frames.append((in_place, [name for name, *_ in group]))
    # Operations by themselves that follow each other share a frame.
    joined: list[tuple[str, list[str]]] = []
    for in_place, names in frames:
        kind = "tiles" if len(names) > 1 else "kept" if in_place else "new"
        if kind != "tiles" and joined and joined[-1][0] == kind:
            joined[-1][1].extend(names)
        else:
            joined.append((kind, names))
    x, y, tallest, drawn, shapes = 0, 0, 0, 0, []
    for kind, names in joined:
        lines = _lines(names)
        drawn += len(lines)
        if drawn > _MOST:
            shapes.append(f'<text x="{x}" y="{y + _LINE}">…</text>')
            break
        width = max(map(len, lines)) * _LETTER + 2 * _GAP
        height = len(lines) * _LINE + _GAP
        if x and x + width > _WIDTH:
            x, y, tallest = 0, y + tallest + _GAP, 0
        shapes.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="4"/>')
        shapes.extend(
            f'<text x="{x + _GAP}" y="{y + (number + 1) * _LINE - 4}">{escape(line)}</text>'
            for number, line in enumerate(lines)
        )
        x, tallest = x + width + _GAP, max(tallest, height)
    style = (
        "text{font:12px monospace}.tiles{fill:#cde7d0;stroke:#3a7d44}"
        ".kept{fill:#dce6f5;stroke:#456b9c}.new{fill:#f5e3d0;stroke:#a8682d}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y + tallest + 1}" width="{_WIDTH}">'
        f"<style>{style}</style>{''.join(shapes)}</svg>"
    )
