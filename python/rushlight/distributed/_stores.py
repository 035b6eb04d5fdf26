"""Stores: keys and values that processes share, by which they find each other."""

from __future__ import annotations

import os
import struct
import threading
import time
from collections import deque
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ._errors import DistStoreError, QueueEmptyError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store", "default_pg_timeout"]

default_pg_timeout = timedelta(seconds=1800)


def as_bytes(value: str | bytes) -> bytes:
    """Return a value as it is kept."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    raise TypeError(f"values of a store are str or bytes, but got {type(value).__name__}")


def as_key(key: str) -> str:
    """Return a key, which has to be a string."""
    if not isinstance(key, str):
        raise TypeError(f"keys of a store are str, but got {type(key).__name__}")
    return key


class Store:
    """What every store can do, said in what each does in its own way: `_change` and `wait`."""

    def __init__(self) -> None:
        self._timeout = timedelta(seconds=300)

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait for a key."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Say how long `get` and `wait` wait for a key."""
        self._timeout = timeout

    def _change(self, operation: str, *fields: bytes) -> list[bytes]:
        """Do one operation of `Table`, which nothing comes between, and return what it answers."""
        raise NotImplementedError

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until there are all of these keys."""
        raise NotImplementedError

    def set(self, key: str, value: str | bytes) -> None:
        """Put a value under a key."""
        self._change("set", as_key(key).encode(), as_bytes(value))

    def get(self, key: str) -> bytes:
        """Return the value of a key, as soon as there is one."""
        self.wait([as_key(key)])
        return self._change("get", key.encode())[0]

    def add(self, key: str, value: int) -> int:
        """Add to the number under a key, which is 0 at first, and return the sum."""
        return int(self._change("add", as_key(key).encode(), str(int(value)).encode())[0])

    def append(self, key: str, value: str | bytes) -> None:
        """Add to the end of the value of a key."""
        self._change("append", as_key(key).encode(), as_bytes(value))

    def check(self, keys: Sequence[str]) -> bool:
        """Tell whether there are all of these keys."""
        return self._change("check", *(as_key(key).encode() for key in keys)) == [b"1"]

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Put a value under a key if the one that is there is as expected; return what is there then."""
        given = as_bytes(expected_value), as_bytes(desired_value)
        return self._change("compare_set", as_key(key).encode(), *given)[0]

    def delete_key(self, key: str) -> bool:
        """Forget a key, and tell whether it was there."""
        return self._change("delete_key", as_key(key).encode()) == [b"1"]

    def num_keys(self) -> int:
        """Return how many keys there are."""
        return int(self._change("num_keys")[0])

    def list_keys(self) -> list[str]:
        """Return all keys."""
        return [key.decode() for key in self._change("list_keys")]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Put values under keys."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Return the values of keys, as soon as there are all."""
        self.wait(keys)
        return [self.get(key) for key in keys]

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Put a value at the end of a queue."""
        self._change("queue_push", as_key(key).encode(), as_bytes(value))

    def queue_len(self, key: str) -> int:
        """Return how many values are in a queue."""
        return int(self._change("queue_len", as_key(key).encode())[0])

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Take the first value of a queue, as soon as there is one, or at once."""
        end = time.monotonic() + self._timeout.total_seconds()
        while not (found := self._change("queue_pop", as_key(key).encode())):
            if not block:
                raise QueueEmptyError("queue is empty")
            if time.monotonic() > end:
                raise DistStoreError("Wait timeout")
            time.sleep(0.005)
        return found[0]

    def has_extended_api(self) -> bool:
        """Tell whether `append`, `multi_get` and `multi_set` are there: always."""
        return True

    def clone(self) -> Store:
        """Return the store for another thread: itself, since several may use it."""
        return self


class Table:
    """Keys and values in memory, and the operations on them: fields in, fields out."""

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}
        self.queues: dict[bytes, deque[bytes]] = {}

    def change(self, operation: str, fields: Sequence[bytes]) -> list[bytes]:
        """Do an operation by its name."""
        if operation not in _OPERATIONS:
            raise ValueError(f"a store has no operation {operation!r}")
        return list(getattr(self, f"_{operation}")(*fields))

    def _set(self, key: bytes, value: bytes) -> list[bytes]:
        self.values[key] = value
        return []

    def _get(self, key: bytes) -> list[bytes]:
        return [self.values[key]]

    def _add(self, key: bytes, value: bytes) -> list[bytes]:
        self.values[key] = str(int(self.values.get(key, b"0")) + int(value)).encode()
        return [self.values[key]]

    def _append(self, key: bytes, value: bytes) -> list[bytes]:
        self.values[key] = self.values.get(key, b"") + value
        return []

    def _check(self, *keys: bytes) -> list[bytes]:
        return [b"1" if all(key in self.values for key in keys) else b"0"]

    def _compare_set(self, key: bytes, expected: bytes, desired: bytes) -> list[bytes]:
        there = self.values.get(key)
        if there is None and expected:
            return [expected]
        if there is None or there == expected:
            self.values[key] = desired
        return [self.values[key]]

    def _delete_key(self, key: bytes) -> list[bytes]:
        return [b"1" if self.values.pop(key, None) is not None else b"0"]

    def _num_keys(self) -> list[bytes]:
        return [str(len(self.values)).encode()]

    def _list_keys(self) -> list[bytes]:
        return list(self.values)

    def _queue_push(self, key: bytes, value: bytes) -> list[bytes]:
        self.queues.setdefault(key, deque()).append(value)
        return []

    def _queue_len(self, key: bytes) -> list[bytes]:
        return [str(len(self.queues.get(key, ()))).encode()]

    def _queue_pop(self, key: bytes) -> list[bytes]:
        queue = self.queues.get(key)
        return [queue.popleft()] if queue else []


_OPERATIONS = {name[1:] for name in vars(Table) if name[0] == "_" and name[1] != "_"}


class HashStore(Store):
    """A store for the threads of one process.

    >>> import rushlight as torch
    >>> store = torch.distributed.HashStore()
    >>> store.add("count", 2), store.get("count")
    (2, b'2')
    """

    def __init__(self) -> None:
        super().__init__()
        self._table = Table()
        self._changed = threading.Condition()

    def _change(self, operation: str, *fields: bytes) -> list[bytes]:
        with self._changed:
            answer = self._table.change(operation, fields)
            self._changed.notify_all()
        return answer

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until there are all of these keys."""
        wanted = [as_key(key).encode() for key in keys]
        seconds = (timeout or self._timeout).total_seconds()
        with self._changed:
            there = self._changed.wait_for(lambda: self._table.change("check", wanted) == [b"1"], seconds)
        if not there:
            raise DistStoreError("Wait timeout")


class PrefixStore(Store):
    """A part of another store: its keys begin alike there.

    >>> import rushlight as torch
    >>> whole = torch.distributed.HashStore()
    >>> torch.distributed.PrefixStore("part", whole).set("key", "value")
    >>> whole.get("part/key")
    b'value'
    """

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self._prefix = f"{prefix}/"
        self._store = store

    @property
    def underlying_store(self) -> Store:
        """The store that this is a part of."""
        return self._store

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait for a key."""
        return self._store.timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Say how long `get` and `wait` wait for a key."""
        self._store.set_timeout(timeout)

    def _change(self, operation: str, *fields: bytes) -> list[bytes]:
        begin = self._prefix.encode()
        if operation == "check":
            fields = tuple(begin + key for key in fields)
        elif fields:
            fields = begin + fields[0], *fields[1:]
        answer = self._store._change(operation, *fields)
        if operation == "list_keys":
            return [key[len(begin) :] for key in answer if key.startswith(begin)]
        return answer

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until there are all of these keys."""
        self._store.wait([self._prefix + as_key(key) for key in keys], timeout)


class FileStore(Store):
    """A store in a file that all processes can open: a list of what was done, which each does again.

    >>> import rushlight as torch
    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = torch.distributed.FileStore(os.path.join(folder, "store"), 1)
    ...     store.set("key", "value")
    ...     store.get("key")
    b'value'
    """

    _RECORD = struct.Struct("!BQ")

    def __init__(self, path: str, numWorkers: int = -1) -> None:
        super().__init__()
        self._path = os.fspath(path)
        self._table = Table()
        self._read = 0
        self._lock = threading.Lock()
        self._within(lambda file: None)

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    def _within(self, work: Callable[[Any], Any]) -> Any:
        """Do something with the file, which nobody else has meanwhile, after what others have done."""
        import fcntl

        with self._lock, open(self._path, "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                file.seek(self._read)
                while header := file.read(self._RECORD.size):
                    fields = [b""] * self._RECORD.unpack(header)[0]
                    for place in range(len(fields)):
                        fields[place] = file.read(int.from_bytes(file.read(8), "big"))
                    self._table.change(fields[0].decode(), fields[1:])
                    self._read = file.tell()
                return work(file)
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)

    def _change(self, operation: str, *fields: bytes) -> list[bytes]:
        def act(file: Any) -> list[bytes]:
            answer = self._table.change(operation, fields)
            if operation not in {"get", "check", "num_keys", "list_keys", "queue_len"}:
                record = [operation.encode(), *fields]
                lengths = b"".join(len(field).to_bytes(8, "big") + field for field in record)
                file.write(self._RECORD.pack(len(record), len(lengths)) + lengths)
                file.flush()
                self._read = file.tell()
            return answer

        answer: list[bytes] = self._within(act)
        return answer

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until there are all of these keys."""
        seconds = (timeout or self._timeout).total_seconds()
        end = time.monotonic() + seconds
        while not self.check(keys):
            if time.monotonic() > end:
                missing = next((key for key in keys if not self.check([key])), keys[0])
                raise RuntimeError(f"Timeout waiting for key: {missing} after {round(seconds * 1000)} ms")
            time.sleep(0.005)
