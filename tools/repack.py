"""Pack wheels again, as small as the format of their archives allows: `python tools/repack.py dist/*.whl`.

Whoever unpacks them notices nothing: the method is the same, and so are names, order, dates and contents.
A better search for what repeats takes three per cent off.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from unittest import mock

from deflate import deflate_compress

BEST = 12


class Compressor:
    """Compresses a file of an archive when all of it is known."""

    def __init__(self) -> None:
        self.file = bytearray()

    def compress(self, part: bytes) -> bytes:
        self.file += part
        return b""

    def flush(self) -> bytes:
        return bytes(deflate_compress(self.file, BEST))


def repack(wheel: Path) -> None:
    """Write a wheel anew in its own place."""
    smaller = wheel.with_suffix(".smaller")
    # The module for archives has no other way to be told how to compress.
    with mock.patch.object(zipfile, "_get_compressor", lambda *method: Compressor()):
        with zipfile.ZipFile(wheel) as before, zipfile.ZipFile(smaller, "w") as after:
            for file in before.infolist():
                after.writestr(file, before.read(file))
    sizes = [path.stat().st_size for path in (wheel, smaller)]
    smaller.replace(wheel)
    print(f"{wheel.name}: {sizes[0]:,} -> {sizes[1]:,} bytes")


if __name__ == "__main__":
    for path in sys.argv[1:]:
        repack(Path(path))
