"""Ratios as a picture: a bar a program, from the greatest to the least, above and below torch's time."""

from __future__ import annotations

import math
from collections.abc import Sequence

WIDTH, HEIGHT = 760, 340
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 34, 26
COLOURS = {"small": "#f2a65a", "middle": "#d1495b", "large": "#30638e"}
LEAST, GREATEST = 1 / 8, 64.0


def height(ratio: float) -> float:
    """Where a ratio lies, on a scale on which twice as fast and twice as slow are equally far from 1."""
    ratio = min(max(ratio, LEAST), GREATEST)
    share = math.log(ratio / LEAST) / math.log(GREATEST / LEAST)
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def drawn(ratios: Sequence[tuple[float, str]], title: str) -> str:
    """An SVG of ratios and of what kind of program each is."""
    step = (WIDTH - LEFT - RIGHT) / max(len(ratios), 1)
    one = height(1)
    heading = f"{title}: how many times as long torch takes, {len(ratios)} programs"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="11" fill="#888">',
        f"<title>{heading}</title>",
        f'<text x="{LEFT}" y="14" font-size="13">{heading}</text>',
    ]
    for index, (name, colour) in enumerate(COLOURS.items()):
        parts.append(f'<rect x="{LEFT + 90 * index}" y="20" width="9" height="9" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + 13 + 90 * index}" y="28">{name}</text>')
    level = LEAST
    while level <= GREATEST:
        y = height(level)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8884"/>')
        name = f"{level:.0f}" if level >= 1 else f"1/{1 / level:.0f}"
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{name}×</text>')
        level *= 2
    for index, (ratio, kind) in enumerate(sorted(ratios, reverse=True)):
        top, bottom = sorted((height(ratio), one))
        parts.append(
            f'<rect x="{LEFT + index * step:.2f}" y="{top:.1f}" width="{step:.2f}" '
            f'height="{max(bottom - top, 0.6):.1f}" fill="{COLOURS[kind]}"/>'
        )
    parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{one:.1f}" y2="{one:.1f}" stroke="#888"/>')
    return "\n".join([*parts, "</svg>", ""])
