"""`TCPStore`: a store in one process, which others reach by the network."""

from __future__ import annotations

import errno
import socket
import threading
import time
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from ._errors import DistNetworkError, DistStoreError
from ._stores import HashStore, Store, as_key
from ._wire import connect, read_fields, without_delay, write_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["TCPStore"]

_servers: dict[int, _Server] = {}


class _Server:
    """Answers what processes ask of a table. Each has a thread here, which waits for what it waits for."""

    def __init__(self, host: str, port: int, listening: int | None) -> None:
        self.store = HashStore()
        if listening is not None:
            self._socket = socket.socket(fileno=listening)
        else:
            # Who is asked for by an address of this machine alone is not to be reached from elsewhere.
            own = host in ("localhost", "127.0.0.1", "::1")
            try:
                self._socket = socket.create_server(("127.0.0.1" if own else "", port), backlog=512)
            except OSError as failure:
                raise _in_use(port, failure) from None
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, name="store", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            without_delay(connection)
            threading.Thread(target=self._answer, args=(connection,), name="store", daemon=True).start()

    def close(self) -> None:
        """Be found by nobody any more. Who is connected is still answered."""
        with suppress(OSError):
            # What waits in `accept` would keep the socket.
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            while True:
                try:
                    operation, *fields = read_fields(connection)
                    write_fields(connection, self._do(operation.decode(), fields))
                except Exception:  # it has gone, or speaks something else: nothing is owed to it
                    return

    def _do(self, operation: str, fields: Sequence[bytes]) -> list[bytes]:
        if operation != "wait":
            try:
                return [b"", *self.store._change(operation, *fields)]
            except (KeyError, TypeError, ValueError) as failure:
                return [f"{type(failure).__name__}: {failure}".encode()]
        try:
            seconds = int(fields[0]) / 1e6
            self.store.wait([key.decode() for key in fields[1:]], timedelta(seconds=seconds))
        except DistStoreError:
            return [b"timeout"]
        return [b""]


def _in_use(port: int, failure: OSError) -> DistNetworkError:
    name = errno.errorcode.get(failure.errno or 0, "?")
    return DistNetworkError(
        f"The server socket has failed to listen on any local network address. port: {port}, useIpv6: false, "
        f"code: -{failure.errno}, name: {name}, message: {(failure.strerror or '').lower()}"
    )


class TCPStore(Store):
    """A store that the process has which `is_master`, and that others reach by its address.

    >>> import rushlight as torch
    >>> store = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True)
    >>> store.set("key", "value")
    >>> torch.distributed.TCPStore("127.0.0.1", store.port).get("key")
    b'value'
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = timedelta(seconds=300),
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool | None = None,
    ) -> None:
        super().__init__()
        self._timeout = timeout
        self._host = host_name
        self._server: _Server | None = None
        self._is_shared = multi_tenant
        if is_master:
            # One that several may use lives as long as the process.
            self._server = _servers.get(port) if multi_tenant else None
            if self._server is None:
                self._server = _Server(host_name, port, master_listen_fd)
                if multi_tenant:
                    _servers[self._server.port] = self._server
            port = self._server.port
        self._port = port
        self._lock = threading.Lock()
        self._connection = connect(host_name, port, timeout.total_seconds())
        if world_size and world_size > 0 and wait_for_workers:
            self._meet(world_size)

    def _meet(self, world_size: int) -> None:
        count = self.add("init/", 1)
        if not self._server:
            return
        end = time.monotonic() + self._timeout.total_seconds()
        while count < world_size:
            if time.monotonic() > end:
                raise DistStoreError(
                    f"Timed out after {round(self._timeout.total_seconds()) + 1} seconds waiting for "
                    f"clients. {count}/{world_size} clients joined."
                )
            time.sleep(0.01)
            count = self.add("init/", 0)

    def __del__(self) -> None:
        connection: socket.socket | None = getattr(self, "_connection", None)
        if connection is not None:
            connection.close()
        server: _Server | None = getattr(self, "_server", None)
        if server is not None and not self._is_shared:
            server.close()

    @property
    def host(self) -> str:
        """The name of the machine that has the store."""
        return self._host

    @property
    def port(self) -> int:
        """The port at which the store is."""
        return self._port

    @property
    def own_address(self) -> str:
        """The address of this machine, as those who reach the store can reach it."""
        address: str = self._connection.getsockname()[0]
        return address

    def _ask(self, operation: str, *fields: bytes) -> list[bytes]:
        try:
            with self._lock:
                write_fields(self._connection, [operation.encode(), *fields])
                problem, *answer = read_fields(self._connection)
        except OSError as failure:
            raise DistNetworkError(
                "failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown "
                f"or crash? ({failure})"
            ) from failure
        if problem == b"timeout":
            return [problem]
        if problem:
            raise DistStoreError(problem.decode())
        return answer

    def _change(self, operation: str, *fields: bytes) -> list[bytes]:
        return self._ask(operation, *fields)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until there are all of these keys."""
        limit = self._timeout if timeout is None else timeout
        micros = str(round(limit.total_seconds() * 1e6)).encode()
        if self._ask("wait", micros, *(as_key(key).encode() for key in keys)):
            named = ", ".join(f"/{key}" for key in keys)
            raise DistStoreError(f"wait timeout after {round(limit.total_seconds() * 1000)}ms, keys: {named}")

    def __repr__(self) -> str:
        ends = self._connection.getsockname(), self._connection.getpeername()
        here, there = (f"[{host}]:{port}" for host, port in (end[:2] for end in ends))
        number = self._connection.fileno()
        server = "<nullptr>" if self._server is None else f"TCPServer(port={self._server.port})"
        client = f"TCPClient(SocketImpl(fd={number}, addr={here}, remote={there}))"
        return f"TCPStore(client={client}, server={server})"
