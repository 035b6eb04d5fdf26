"""Processes that MPI has started: its messages, by mpi4py, out of the memory of tensors and into it."""

from __future__ import annotations

import os
import threading
import time
import zlib
from typing import TYPE_CHECKING, Any

from ._transport import Transfer, Transport, late, of_other_size

if TYPE_CHECKING:
    from collections.abc import Sequence

_MISSING = (
    "Distributed package doesn't have MPI built in. It comes with mpi4py and a library of MPI: pip install "
    "rushlight[mpi]"
)
# By any of these, `mpiexec` of a common MPI tells a process that it is one of several.
_LAUNCHED = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MV2_COMM_WORLD_SIZE")
# Threads of a process speak to MPI one after another, which every MPI can bear.
_speaking = threading.Lock()


def is_there() -> bool:
    """Tell whether mpi4py can be imported."""
    from importlib.util import find_spec

    return find_spec("mpi4py") is not None


def is_launched() -> bool:
    """Tell whether `mpiexec` has started this process, and mpi4py is there."""
    return any(name in os.environ for name in _LAUNCHED) and is_there()


def world() -> Messages:
    """Return the way between all processes that MPI has started."""
    try:
        from mpi4py import MPI  # type: ignore[import-not-found, unused-ignore]
    except ImportError as failure:
        raise RuntimeError(_MISSING) from failure
    except RuntimeError as failure:  # mpi4py without a library of MPI
        raise RuntimeError(f"{_MISSING} ({failure})") from failure
    if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
        raise RuntimeError("this MPI can only be used by one thread of a process, which is not enough")
    said = os.environ.get("WORLD_SIZE", "1")
    if MPI.COMM_WORLD.Get_size() == 1 and said != "1" and not is_launched():
        raise RuntimeError(
            f"WORLD_SIZE is {said}, but MPI knows of one process: start them with mpiexec, or say 'gloo'"
        )
    return Messages(MPI, MPI.COMM_WORLD.Dup())


class Messages(Transport):
    """The way between the processes of a communicator."""

    def __init__(self, library: Any, communicator: Any) -> None:
        self._library, self._communicator = library, communicator
        # What goes wrong is raised, and ends nobody by itself.
        communicator.Set_errhandler(library.ERRORS_RETURN)
        self.rank, self.size = communicator.Get_rank(), communicator.Get_size()

    def begin_send(self, peer: int, channel: int, view: memoryview) -> Transfer:
        """Send bytes."""
        with _speaking:
            request = self._communicator.Isend([view, self._library.BYTE], peer, channel)
        return _Request(self._library, request, view, peer, receives=False)

    def begin_receive(self, peer: int | None, channel: int, view: memoryview) -> Transfer:
        """Receive bytes."""
        source = self._library.ANY_SOURCE if peer is None else peer
        with _speaking:
            request = self._communicator.Irecv([view, self._library.BYTE], source, channel)
        return _Request(self._library, request, view, peer, receives=True)

    def part(self, name: str, ranks: Sequence[int]) -> Transport:
        """Return the way between some of the processes, by a communicator of theirs."""
        with _speaking:
            members = self._communicator.Get_group().Incl(list(ranks))
            made = self._communicator.Create_group(members, zlib.crc32(name.encode()) & 0x7FFF)
        return Messages(self._library, made)

    def warn_others(self, reason: str) -> None:
        """End all processes: MPI has no other way to reach those that wait."""
        self._communicator.Abort(1)

    def close(self) -> None:
        """Do nothing: MPI ends with the process."""


class _Request(Transfer):
    """What MPI has been asked for. It moves when it is asked whether it is done."""

    def __init__(
        self, library: Any, request: Any, view: memoryview, peer: int | None, *, receives: bool
    ) -> None:
        self.view, self.source = view, peer
        self._library, self._request, self._receives = library, request, receives
        self._error: Exception | None = None

    def done(self) -> bool:
        """Tell whether there is nothing to wait for any more."""
        if self._request is None:
            return True
        status = self._library.Status()
        try:
            with _speaking:
                if self._request is not None and not self._request.Test(status):
                    return False
                count = status.Get_count(self._library.BYTE) if self._receives else self.view.nbytes
        except self._library.Exception as failure:
            self._error = RuntimeError(f"MPI: {failure}")
        else:
            if self._receives:
                self.source = status.Get_source()
                if count != self.view.nbytes:
                    self._error = of_other_size(self.view.nbytes, count, self.source)
        self._request = None
        return True

    def wait(self, seconds: float) -> None:
        """Ask again and again, more and more rarely: who waits should not take a core from who computes."""
        begin, pause = time.monotonic(), 0.0
        while not self.done():
            if time.monotonic() - begin > seconds:
                raise late(seconds)
            time.sleep(pause)
            pause = min(pause + 2e-6, 3e-4)
        if self._error is not None:
            raise self._error
