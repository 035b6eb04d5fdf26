"""A picture of numbers, written as PNG with nothing but the standard library."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

Colour = tuple[int, int, int]

# From surely outside (0) to surely inside (1): night, dusk, a bright line where it is undecided, flame.
STOPS: list[tuple[float, Colour]] = [
    (0.00, (13, 17, 46)),
    (0.25, (33, 38, 92)),
    (0.42, (84, 72, 142)),
    (0.485, (150, 110, 160)),
    (0.50, (255, 244, 224)),
    (0.515, (226, 120, 96)),
    (0.58, (238, 146, 82)),
    (0.78, (248, 182, 84)),
    (1.00, (255, 218, 130)),
]


def colour(value: float) -> Colour:
    """The colour of a value between 0 and 1, mixed from its two nearest stops."""
    for (low, before), (high, after) in pairwise(STOPS):
        if value <= high:
            return mixed(before, after, (value - low) / (high - low))
    return STOPS[-1][1]


def mixed(first: Colour, second: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


PALETTE = [bytes(colour(level / 255)) for level in range(256)]


class Picture:
    """A square of pixels, coloured by a value each, on which dots can be drawn."""

    def __init__(self, size: int, values: Iterable[float]) -> None:
        self.size = size
        self.pixels = bytearray(b"".join(PALETTE[round(value * 255)] for value in values))

    def dot(self, x: float, y: float, radius: float, fill: Colour, rim: Colour) -> None:
        """A disc with a darker rim; its edges are smooth, because a pixel may belong to it in part."""
        for row in range(max(0, int(y - radius - 1)), min(self.size, int(y + radius + 2))):
            for column in range(max(0, int(x - radius - 1)), min(self.size, int(x + radius + 2))):
                distance = ((column - x) ** 2 + (row - y) ** 2) ** 0.5
                self.blend(row, column, rim, radius - distance + 0.5)
                self.blend(row, column, fill, radius - distance - 0.9)

    def blend(self, row: int, column: int, paint: Colour, share: float) -> None:
        if share <= 0:
            return
        start = 3 * (row * self.size + column)
        red, green, blue = self.pixels[start : start + 3]
        self.pixels[start : start + 3] = bytes(mixed((red, green, blue), paint, min(1.0, share)))

    def save(self, path: Path) -> None:
        stride = 3 * self.size
        # Each row of a PNG begins with the number of its filter: 0, none.
        rows = b"".join(
            b"\0" + self.pixels[start : start + stride] for start in range(0, len(self.pixels), stride)
        )
        header = struct.pack(">IIBBBBB", self.size, self.size, 8, 2, 0, 0, 0)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(rows, 9))
            + chunk(b"IEND", b"")
        )


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
