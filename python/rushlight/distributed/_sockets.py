"""Processes that reach each other by sockets: one connection for any two of them.

A thread reads each connection, so that whoever sends never waits for what somebody else does not want yet.
Bytes go into the memory that was given for them if it was given in time; otherwise they are kept until it is.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import socket
import struct
import threading
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

from ._stores import PrefixStore
from ._tcp_store import TCPStore
from ._transport import Transfer, Transport, of_other_size
from ._wire import connect, read_bytes, read_into, without_delay

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from ._stores import Store

    # Who sends, in which group, on which channel.
    Place: TypeAlias = tuple[int | None, int, int]

# The group, the channel and the number of bytes that follow.
_HEADER = struct.Struct("!QqQ")
_HELLO = struct.Struct("!16sI")
# What comes in this group is the reason for which a process fails.
_FAILURE = 0


class Mesh:
    """The connections of a process to all others."""

    def __init__(self, store: Store, rank: int, size: int, seconds: float) -> None:
        self.rank, self.size = rank, size
        self._seconds = seconds
        self._lock = threading.Lock()
        self._waiting: dict[Place, deque[Transfer]] = defaultdict(deque)
        self._early: dict[Place, deque[bytearray]] = defaultdict(deque)
        self._gone: dict[int, Exception] = {}
        self._doom: Exception | None = None
        self._connections = _meet(store, rank, size, seconds)
        self._sending = {peer: threading.Lock() for peer in self._connections}
        # As long as the operations of the group may take: the kernel knows it as seconds and microseconds.
        limit = struct.pack("ll", int(seconds), int(seconds % 1 * 1e6))
        for peer, connection in self._connections.items():
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
            threading.Thread(target=self._read, args=(peer,), name=f"rank {peer}", daemon=True).start()

    def send(self, peer: int, group: int, channel: int, view: memoryview) -> None:
        """Send a message; return when all of it has left."""
        if self._doom is not None:
            raise type(self._doom)(*self._doom.args)
        connection = self._connections[peer]
        header = _HEADER.pack(group, channel, view.nbytes)
        try:
            with self._sending[peer]:
                sent = connection.sendmsg([header, view]) - len(header)
                if sent < 0:
                    connection.sendall(header[sent:])
                    sent = 0
                if sent < view.nbytes:
                    connection.sendall(view[sent:])
        except BlockingIOError:
            raise RuntimeError(
                f"Timed out waiting {round(self._seconds * 1000)}ms for send operation to complete"
            ) from None
        except OSError as failure:
            # Why it has gone may have been said before.
            raise self._doom or self._gone.get(peer) or _closed(connection, peer) from failure

    def receive(self, place: Place, view: memoryview) -> Transfer:
        """Ask for the next message of a place. Of several that wait, the first gets it."""
        transfer = Transfer(view, place[0])
        with self._lock:
            found = self._take_early(place)
            if found is None:
                lost = self._doom or self._lost(place[0])
                if lost is not None:
                    transfer.finish(lost)
                else:
                    self._waiting[place].append(transfer)
                return transfer
        source, data = found
        self._fill(transfer, source, data)
        return transfer

    def _lost(self, peer: int | None) -> Exception | None:
        if peer is not None:
            return self._gone.get(peer)
        return next(iter(self._gone.values())) if len(self._gone) == len(self._connections) else None

    def _take_early(self, place: Place) -> tuple[int, bytearray] | None:
        peers: Iterable[int] = self._connections if place[0] is None else (place[0],)
        for peer in peers:
            there = self._early.get((peer, *place[1:]))
            if there:
                return peer, there.popleft()
        return None

    @staticmethod
    def _fill(transfer: Transfer, source: int, data: bytearray) -> None:
        transfer.source = source
        if len(data) != transfer.view.nbytes:
            transfer.finish(of_other_size(transfer.view.nbytes, len(data), source))
            return
        transfer.view[:] = data
        transfer.finish()

    def _next_waiting(self, peer: int, group: int, channel: int) -> Transfer | None:
        for place in ((peer, group, channel), (None, group, channel)):
            there = self._waiting.get(place)
            if there:
                return there.popleft()
        return None

    def _read(self, peer: int) -> None:
        connection = self._connections[peer]
        try:
            while True:
                group, channel, count = _HEADER.unpack(read_bytes(connection, _HEADER.size))
                if group == _FAILURE:
                    text = read_bytes(connection, count).decode(errors="replace")
                    self._lose_all(RuntimeError(f"rank {peer} has failed:\n{text}"))
                else:
                    self._read_message(connection, peer, group, channel, count)
        except Exception as failure:  # whatever it is, nothing more comes from there
            self._lose(peer, _closed(connection, peer, failure))
        finally:
            connection.close()

    def _read_message(
        self, connection: socket.socket, peer: int, group: int, channel: int, count: int
    ) -> None:
        with self._lock:
            transfer = self._next_waiting(peer, group, channel)
        if transfer is not None and transfer.view.nbytes == count:
            transfer.source = peer
            try:
                read_into(connection, transfer.view)
            except BaseException as failure:
                transfer.finish(_closed(connection, peer, failure))
                raise
            transfer.finish()
            return
        data = read_bytes(connection, count)
        if transfer is None:
            with self._lock:
                # Somebody may have asked for it while it came.
                transfer = self._next_waiting(peer, group, channel)
                if transfer is None:
                    self._early[peer, group, channel].append(data)
        if transfer is not None:
            self._fill(transfer, peer, data)

    def _lose(self, peer: int, error: Exception) -> None:
        """Tell those who wait for a process that it has gone."""
        with self._lock:
            self._gone[peer] = error
            alone = len(self._gone) == len(self._connections)
            lost = [
                transfer
                for place, queue in self._waiting.items()
                if place[0] == peer or (alone and place[0] is None)
                for transfer in _emptied(queue)
            ]
        for transfer in lost:
            transfer.finish(error)

    def _lose_all(self, error: Exception) -> None:
        """Tell all who wait that there is nothing to wait for."""
        with self._lock:
            self._doom = self._doom or error
            lost = [transfer for queue in self._waiting.values() for transfer in _emptied(queue)]
        for transfer in lost:
            transfer.finish(error)

    def warn(self, reason: str) -> None:
        """Say to all others why this process fails; who has gone does not hear it."""
        text = memoryview(reason.encode())
        for peer in self._connections:
            try:
                self.send(peer, _FAILURE, 0, text)
            except (OSError, RuntimeError):
                continue

    def close(self) -> None:
        """Say to all others that nothing will be sent any more."""
        for connection in self._connections.values():
            try:
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                continue


def _emptied(queue: deque[Transfer]) -> list[Transfer]:
    found = list(queue)
    queue.clear()
    return found


def _closed(connection: socket.socket, peer: int, failure: BaseException | None = None) -> RuntimeError:
    try:
        host, port = connection.getpeername()[:2]
        place = f" [{host}]:{port}"
    except OSError:
        place = ""
    why = "" if failure is None or isinstance(failure, ConnectionError) else f" ({failure})"
    return RuntimeError(
        f"Connection closed by peer{place}: rank {peer} has ended, or a process between here and there{why}"
    )


def _meet(store: Store, rank: int, size: int, seconds: float) -> dict[int, socket.socket]:
    """Connect to those of smaller rank, and be found by those of larger."""
    shared = PrefixStore("mesh", store)
    inner = store
    while isinstance(inner, PrefixStore):
        inner = inner.underlying_store
    host = inner.own_address if isinstance(inner, TCPStore) else "127.0.0.1"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family, backlog=size) as listening:
        # Who does not know the secret has not read the store.
        secret = secrets.token_bytes(16)
        said = {"host": host, "port": listening.getsockname()[1], "secret": secret.hex()}
        shared.set(str(rank), json.dumps(said))
        found = {peer: _call(shared, rank, peer, seconds) for peer in range(rank)}
        listening.settimeout(seconds)
        while len(found) < size - 1:
            connection, peer = _answer(listening, secret)
            if connection is not None and rank < peer < size and peer not in found:
                found[peer] = connection
    return found


def _call(shared: Store, rank: int, peer: int, seconds: float) -> socket.socket:
    said: dict[str, Any] = json.loads(shared.get(str(peer)))
    connection = connect(said["host"], said["port"], seconds)
    connection.sendall(_HELLO.pack(bytes.fromhex(said["secret"]), rank))
    return connection


def _answer(listening: socket.socket, secret: bytes) -> tuple[socket.socket | None, int]:
    try:
        connection, _ = listening.accept()
    except TimeoutError:
        raise RuntimeError("Timed out waiting for the other processes of the group to connect") from None
    connection.settimeout(10)
    try:
        said, peer = _HELLO.unpack(read_bytes(connection, _HELLO.size))
    except OSError:
        said, peer = b"", -1
    if not hmac.compare_digest(said, secret):
        connection.close()
        return None, -1
    connection.settimeout(None)
    without_delay(connection)
    return connection, peer


class Sockets(Transport):
    """The way between the processes of a group by a mesh, which groups share."""

    def __init__(self, mesh: Mesh, name: str, ranks: Sequence[int]) -> None:
        self._mesh = mesh
        self._name = name
        # Every process numbers a group alike, and none as failures are.
        self._number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") | 1
        self._ranks = list(ranks)
        self._places = {rank: place for place, rank in enumerate(self._ranks)}
        self.rank, self.size = self._places[mesh.rank], len(self._ranks)

    def begin_send(self, peer: int, channel: int, view: memoryview) -> Transfer:
        """Send bytes, which have left when this returns."""
        self._mesh.send(self._ranks[peer], self._number, channel, view)
        transfer = Transfer(view)
        transfer.finish()
        return transfer

    def begin_receive(self, peer: int | None, channel: int, view: memoryview) -> Transfer:
        """Receive bytes."""
        place = None if peer is None else self._ranks[peer]
        return _InGroup(self._mesh.receive((place, self._number, channel), view), self._places)

    def part(self, name: str, ranks: Sequence[int]) -> Transport:
        """Return the way between some of the processes, by the connections that are there."""
        return Sockets(self._mesh, f"{self._name}/{name}", [self._ranks[rank] for rank in ranks])

    def warn_others(self, reason: str) -> None:
        """Say to all others that this process fails, and why."""
        self._mesh.warn(reason)

    def close(self) -> None:
        """Say that nothing will be sent any more."""
        self._mesh.close()


class _InGroup(Transfer):
    """A transfer of the mesh, whose source is told by its rank in a group."""

    def __init__(self, inner: Transfer, places: dict[int, int]) -> None:
        self._inner, self._places = inner, places

    @property
    def source(self) -> int | None:  # type: ignore[override]
        """The rank of who sends, once it is known."""
        return None if self._inner.source is None else self._places[self._inner.source]

    def done(self) -> bool:
        """Tell whether there is nothing to wait for any more."""
        return self._inner.done()

    def wait(self, seconds: float) -> None:
        """Wait for the bytes."""
        self._inner.wait(seconds)
