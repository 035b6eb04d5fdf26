"""Processes that run one function each, and fail together.

>>> import rushlight as torch
>>> torch.multiprocessing.spawn(print, nprocs=0) is None
True
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import tempfile
import time
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):
    """A process has failed."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """The function of a process has raised an exception."""


class ProcessExitedException(ProcessException):
    """A process has ended by a signal, or with a code."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(function: Callable[..., Any], place: int, args: tuple[Any, ...], failed: str) -> None:
    """Call a function in its process; leave behind what it failed with."""
    try:
        function(place, *args)
    except KeyboardInterrupt:
        pass  # Whoever waits got it too, and ends the others.
    except Exception as failure:
        import traceback

        with open(failed, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        # Processes that it computes with may wait for it.
        others = sys.modules.get("rushlight.distributed._failing")
        if others is not None:
            others.tell(failure)
        sys.exit(1)


class ProcessContext:
    """Processes that have been started, to be waited for with `join`."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.error_files = error_files
        self.processes = processes
        self.sentinels = {process.sentinel: place for place, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """Return the numbers of the processes."""
        return [int(process.pid) for process in self.processes]

    def _end_others(self, grace_period: float | None) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        end = time.monotonic() + (30 if grace_period is None else grace_period)
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
            process.join()

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for processes, and tell whether all have ended. If one fails, end the others and raise."""
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(list(self.sentinels), timeout)
        failed = None
        for sentinel in ready:
            place = self.sentinels.pop(sentinel)
            process = self.processes[place]
            process.join()
            if process.exitcode and failed is None:
                failed = place
        if failed is None:
            return not self.sentinels
        self._end_others(grace_period)
        self._fail(failed)
        return False

    def _fail(self, place: int) -> None:
        process, file = self.processes[place], self.error_files[place]
        if os.path.getsize(file):
            with open(file, "rb") as written:
                text = pickle.load(written)
            message = f"\n\n-- Process {place} terminated with the following error:\n{text}"
            raise ProcessRaisedException(message, place, process.pid)
        if process.exitcode < 0:
            try:
                name = signal.Signals(-process.exitcode).name
            except ValueError:
                name = f"<Unknown signal {-process.exitcode}>"
            text = f"process {place} terminated with signal {name}"
            raise ProcessExitedException(text, place, process.pid, process.exitcode, name)
        text = f"process {place} terminated with exit code {process.exitcode}"
        raise ProcessExitedException(text, place, process.pid, process.exitcode)


SpawnContext = ProcessContext


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
    numa_options: Any = None,
) -> ProcessContext | None:
    """Call `fn(place, *args)` in as many processes, and wait for them unless `join` says otherwise."""
    context: Any = multiprocessing.get_context(start_method)
    processes, files = [], []
    for place in range(nprocs):
        handle, file = tempfile.mkstemp(prefix="rushlight-spawn-", suffix=".pickle")
        os.close(handle)
        process = context.Process(target=_run, args=(fn, place, args, file), daemon=daemon)
        process.start()
        processes.append(process)
        files.append(file)
    started = ProcessContext(processes, files)
    if not join:
        return started
    try:
        while not started.join():
            pass
    finally:
        for file in files:
            if os.path.exists(file):
                os.unlink(file)
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Call `fn(place, *args)` in as many new processes, and wait for them unless `join` says otherwise."""
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different "
            "start_method use:\n\t\t torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
