"""Bytes on a socket: messages of fields, each with its length in front, and addresses."""

from __future__ import annotations

import socket
import struct
import time
from typing import TYPE_CHECKING

from ._errors import DistNetworkError

if TYPE_CHECKING:
    from collections.abc import Sequence

_LENGTH = struct.Struct("!Q")
_MOST_FIELDS = 1 << 20
_MOST_BYTES = 1 << 32


def read_into(connection: socket.socket, view: memoryview) -> None:
    """Fill a view with what comes; `ConnectionError` if the other side has gone."""
    while view:
        # As much as there will be, in one call: each call waits for the interpreter afterwards.
        count = connection.recv_into(view, 0, socket.MSG_WAITALL)
        if not count:
            raise ConnectionResetError("Connection closed by peer")
        view = view[count:]


def read_bytes(connection: socket.socket, count: int) -> bytearray:
    """Return the next bytes that come."""
    found = bytearray(count)
    read_into(connection, memoryview(found))
    return found


def write_fields(connection: socket.socket, fields: Sequence[bytes]) -> None:
    """Send a message."""
    parts = [_LENGTH.pack(len(fields))]
    for field in fields:
        parts += [_LENGTH.pack(len(field)), field]
    connection.sendall(b"".join(parts))


def read_fields(connection: socket.socket) -> list[bytes]:
    """Return the fields of the next message. What nobody would send is not read."""
    count = _read_length(connection, _MOST_FIELDS)
    return [bytes(read_bytes(connection, _read_length(connection, _MOST_BYTES))) for _ in range(count)]


def _read_length(connection: socket.socket, most: int) -> int:
    length: int = _LENGTH.unpack(read_bytes(connection, _LENGTH.size))[0]
    if length > most:
        raise ConnectionError(f"a message announces {length} bytes, more than {most}")
    return length


def connect(host: str, port: int, seconds: float) -> socket.socket:
    """Return a connection, as soon as somebody listens there."""
    end = time.monotonic() + seconds
    pause = 0.01
    while True:
        left = end - time.monotonic()
        try:
            made = socket.create_connection((host, port), max(left, 0.001))
        except OSError as failure:
            if time.monotonic() + pause >= end:
                raise DistNetworkError(
                    f"The client socket has timed out after {round(seconds * 1000)}ms while trying to "
                    f"connect to ({host}, {port})."
                ) from failure
            time.sleep(pause)
            pause = min(2 * pause, 0.5)
        else:
            made.settimeout(None)
            without_delay(made)
            return made


def without_delay(connection: socket.socket) -> None:
    """Have small messages leave at once."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
