"""What carries bytes between the processes of a group: two functions, which each backend has in its way."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Transfer:
    """Bytes on their way, into the memory that was given for them or out of it."""

    def __init__(self, view: memoryview, source: int | None = None) -> None:
        self.view = view
        self.source = source
        self._error: Exception | None = None
        self._arrived = threading.Event()

    def finish(self, error: Exception | None = None) -> None:
        """Say that the bytes are there, or why they never will be."""
        self._error = error
        self._arrived.set()

    def done(self) -> bool:
        """Tell whether there is nothing to wait for any more."""
        return self._arrived.is_set()

    def wait(self, seconds: float) -> None:
        """Wait for the bytes; raise what kept them."""
        if not self._arrived.wait(seconds):
            raise late(seconds)
        if self._error is not None:
            # The same error may be what others wait for: each raises one of its own.
            raise type(self._error)(*self._error.args) from None


def late(seconds: float) -> RuntimeError:
    """Return what is raised when nothing has come in time."""
    return RuntimeError(f"Timed out waiting {round(seconds * 1000)}ms for recv operation to complete")


def of_other_size(expected: int, count: int, source: int) -> RuntimeError:
    """Return what is raised when a message does not fit the memory that was given for it."""
    return RuntimeError(
        f"rank {source} sent {count} bytes, but {expected} were expected: processes called different "
        "operations, or gave them tensors of different sizes"
    )


class Transport(ABC):
    """The way between the processes of a group. Their numbers here are their ranks in the group.

    Messages between two processes arrive in the order in which they were sent, channel by channel.
    """

    rank: int
    size: int

    @abstractmethod
    def begin_send(self, peer: int, channel: int, view: memoryview) -> Transfer:
        """Send bytes. The memory has to stay as it is until they are on their way."""

    @abstractmethod
    def begin_receive(self, peer: int | None, channel: int, view: memoryview) -> Transfer:
        """Receive as many bytes as there is room for; from anybody if `peer` is None."""

    @abstractmethod
    def part(self, name: str, ranks: Sequence[int]) -> Transport:
        """Return the way between some of the processes, in which each of these takes part."""

    @abstractmethod
    def warn_others(self, reason: str) -> None:
        """Say to all others that this process fails, and why."""

    @abstractmethod
    def close(self) -> None:
        """Say that nothing will be sent any more."""
