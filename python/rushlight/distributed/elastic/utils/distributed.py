"""Ports of this machine that nobody listens on.

>>> 0 < get_free_port() < 65536
True
"""

from __future__ import annotations

import socket
from contextlib import closing

__all__ = ["get_free_port", "get_socket_with_port"]


def get_free_port() -> int:
    """Return a port that is free now."""
    with closing(get_socket_with_port()) as listening:
        port: int = listening.getsockname()[1]
    return port


def get_socket_with_port() -> socket.socket:
    """Return a socket that listens on a free port of this machine, which stays taken until it is closed."""
    failure: OSError | None = None
    for family, kind, protocol, _, _ in socket.getaddrinfo("localhost", None, type=socket.SOCK_STREAM):
        listening = socket.socket(family, kind, protocol)
        try:
            listening.bind(("localhost", 0))
            listening.listen(0)
        except OSError as refused:
            listening.close()
            failure = refused
        else:
            return listening
    raise RuntimeError("Failed to create a socket") from failure
