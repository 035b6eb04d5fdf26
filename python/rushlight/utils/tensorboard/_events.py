"""Event files as TensorBoard reads them: messages as protocol buffers have them, framed and checked."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from itertools import count
from typing import Any

__all__ = ["EventFile", "message"]

_numbers = count()


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)


def _field(number: int, value: Any) -> bytes:
    """Return one field: its kind on the wire follows from the class of its value."""
    if isinstance(value, (bool, int)):
        return _varint(number << 3) + _varint(int(value))
    if isinstance(value, Double):
        return _varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


class Double(float):
    """A number that is written in double precision; floats are written in single."""


def doubles(values: Any) -> bytes:
    """Return numbers as one packed field has them."""
    return struct.pack(f"<{len(values)}d", *values)


def message(*fields: tuple[int, Any]) -> bytes:
    """Return a message of numbered fields; a list is a field that repeats, and None one that is left out.

    >>> from rushlight.utils.tensorboard._events import message
    >>> message((1, "a"), (2, 300), (3, None), (4, [1, 2]))
    b'\\n\\x01a\\x10\\xac\\x02 \\x01 \\x02'
    """
    made = []
    for number, value in fields:
        values = value if isinstance(value, list) else [value]
        made += [_field(number, one) for one in values if one is not None]
    return b"".join(made)


def _checks() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _checks()


def _checksum(data: bytes) -> bytes:
    """Return the checksum of Castagnoli of bytes, turned as the files have it."""
    found = 0xFFFFFFFF
    for byte in data:
        found = _TABLE[(found ^ byte) & 255] ^ found >> 8
    found ^= 0xFFFFFFFF
    return struct.pack("<I", ((found >> 15 | found << 17) + 0xA282EAD8) & 0xFFFFFFFF)


class EventFile:
    """A file that events are added to."""

    def __init__(self, folder: str, suffix: str = "") -> None:
        os.makedirs(folder, exist_ok=True)
        now = time.time()
        parts = f"{int(now):010d}", socket.gethostname(), str(os.getpid()), str(next(_numbers))
        name = f"events.out.tfevents.{'.'.join(parts)}{suffix}"
        self._lock = threading.Lock()
        self._file: Any = open(os.path.join(folder, name), "wb")  # noqa: SIM115 - closed by `close`
        self._write(message((1, Double(now)), (3, "brain.Event:2")))
        self.flush()

    def _write(self, event: bytes) -> None:
        length = struct.pack("<Q", len(event))
        with self._lock:
            self._file.write(length + _checksum(length) + event + _checksum(event))

    def add(self, summary: bytes, step: int | None, walltime: float | None) -> None:
        """Add a summary."""
        if self._file is None:
            raise ValueError("the event file is closed")
        when = Double(time.time() if walltime is None else walltime)
        self._write(message((1, when), (2, step), (5, summary)))

    def add_summary(
        self, summary: bytes, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Write a summary."""
        self.add(summary, global_step, walltime)

    def flush(self) -> None:
        """Hand over to the operating system what was added."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
