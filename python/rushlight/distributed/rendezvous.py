"""How processes find each other: an address that says by which store, and who they are."""

from __future__ import annotations

import numbers
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from ._stores import FileStore, Store, default_pg_timeout
from ._tcp_store import TCPStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import timedelta
    from typing import TypeAlias

    Found: TypeAlias = tuple[Store, int, int]

__all__ = ["register_rendezvous_handler", "rendezvous"]

_handlers: dict[str, Callable[..., Iterator[Found]]] = {}


def register_rendezvous_handler(scheme: str, handler: Callable[..., Iterator[Found]]) -> None:
    """Say what finds processes by addresses that begin with `scheme`."""
    if scheme in _handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _handlers[scheme] = handler


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **kwargs: Any) -> Iterator[Found]:
    """Return what yields the store of processes, the rank of this one, and how many there are."""
    if not isinstance(url, (str, bytes)):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url!r}")
    if not isinstance(rank, numbers.Integral):
        raise RuntimeError(f"`rank` must be an integer. {rank}")
    if not isinstance(world_size, numbers.Integral):
        raise RuntimeError(f"`world_size` must be an integer. {world_size}")
    address = urlsplit(url if isinstance(url, str) else url.decode())
    said = dict(parse_qsl(address.query))
    if rank != -1 or world_size != -1:
        if "rank" in said or "world_size" in said:
            raise AssertionError(f"The url: {url!s} has node-specific arguments(rank, world_size) already.")
        said |= {} if rank == -1 else {"rank": str(rank)}
        said |= {} if world_size == -1 else {"world_size": str(world_size)}
    if address.scheme not in _handlers:
        raise RuntimeError(f"No rendezvous handler for {address.scheme}://")
    query = "&".join(f"{name}={value}" for name, value in said.items())
    return _handlers[address.scheme](address._replace(query=query).geturl(), **kwargs)


def _wrong(kind: str, text: str) -> ValueError:
    return ValueError(f"Error initializing torch.distributed using {kind}:// rendezvous: {text}")


def _said(kind: str, url: str) -> tuple[Any, int, int]:
    """Return an address in parts, and the rank and the number of processes that it says."""
    address = urlsplit(url)
    said = dict(parse_qsl(address.query))
    if "rank" not in said:
        raise _wrong(kind, "rank parameter missing")
    if "world_size" not in said:
        raise _wrong(kind, "world size parameter missing")
    return address, int(said["rank"]), int(said["world_size"])


def _by_file(url: str, **kwargs: Any) -> Iterator[Found]:
    if not urlsplit(url).path:
        raise _wrong("file", "path missing")
    address, rank, world_size = _said("file", url)
    yield FileStore(address.path, world_size), rank, world_size
    raise RuntimeError("Unable to perform rerendezvous using file:// method")


def _by_tcp(url: str, timeout: timedelta = default_pg_timeout, **kwargs: Any) -> Iterator[Found]:
    if urlsplit(url).port is None:
        raise _wrong("tcp", "port number missing")
    address, rank, world_size = _said("tcp", url)
    yield _store_at(address.hostname, address.port, rank, world_size, timeout), rank, world_size
    raise RuntimeError("Unable to perform re-rendezvous using tcp:// method")


def _by_environment(url: str, timeout: timedelta = default_pg_timeout, **kwargs: Any) -> Iterator[Found]:
    said = dict(parse_qsl(urlsplit(url).query))

    def find(name: str) -> str:
        value = said.get(name.lower()) or os.environ.get(name)
        if not value:
            raise _wrong("env", f"environment variable {name} expected, but not set")
        return value

    rank, world_size = int(find("RANK")), int(find("WORLD_SIZE"))
    host, port = find("MASTER_ADDR"), int(find("MASTER_PORT"))
    yield _store_at(host, port, rank, world_size, timeout), rank, world_size
    raise RuntimeError("Unable to perform re-rendezvous using env:// method")


def _store_at(host: str, port: int, rank: int, world_size: int, timeout: timedelta) -> Store:
    if not 0 <= port < 2**16:
        raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
    # What starts processes may have the store, so that it outlives them.
    is_master = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
    return TCPStore(host, port, world_size, is_master, timeout, multi_tenant=True)


register_rendezvous_handler("env", _by_environment)
register_rendezvous_handler("file", _by_file)
register_rendezvous_handler("tcp", _by_tcp)
