"""Worker processes that end before their time: an iterator that waits for one raises instead."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

__all__: list[str] = []

_workers: dict[int, set[int]] = {}  # The processes of each iterator, by its `id`.
_SIGCHLD_handler_set = False
_STANDARD_ERROR = 2  # The file itself: `sys.stderr` may be none, as in notebooks.


def _set_worker_pids(key: int, child_pids: tuple[int, ...]) -> None:
    """Watch the processes of an iterator.

    >>> _set_worker_pids(0, ())
    >>> _remove_worker_pids(0)
    """
    if key in _workers:
        raise ValueError("_set_worker_pids should be called only once for each _BaseDataLoaderIter.")
    if not isinstance(child_pids, tuple):
        raise TypeError(
            f"_set_worker_pids expects a tuple for child_pids, but got {type(child_pids).__name__}."
        )
    _workers[key] = set(child_pids)


def _remove_worker_pids(key: int) -> None:
    """Watch them no longer."""
    if _workers.pop(key, None) is None:
        raise ValueError(f"Cannot find worker information for _BaseDataLoaderIter with id {key}")


def _error_if_any_worker_fails() -> None:
    """Raise if a process that is watched has failed; each failure is told once."""
    for pids in _workers.values():
        for pid in pids:
            failure = _failure(pid)
            if failure is not None:
                pids.clear()
                raise RuntimeError(failure)


def _failure(pid: int) -> str | None:
    """Return how a process failed, which can still be asked for its end afterwards."""
    try:
        end = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # Its end was asked for already.
        return None
    if end is None or not end.si_status:
        return None
    return how_it_ended(pid, end.si_status if end.si_code == os.CLD_EXITED else -end.si_status)


def how_it_ended(pid: int, code: int) -> str:
    """Say how a worker process ended too early: by an exit code, or by a signal, whose number is negative."""
    if code < 0:
        return f"DataLoader worker (pid {pid}) is killed by signal: {signal.strsignal(-code)}. "
    return (
        f"DataLoader worker (pid {pid}) exited unexpectedly with exit code {code}. Details are lost due to "
        "multiprocessing. Rerunning with num_workers=0 may give better error trace."
    )


def _set_SIGCHLD_handler() -> None:
    """Look for failures whenever a child of this process ends."""
    global _SIGCHLD_handler_set
    main = threading.current_thread() is threading.main_thread()
    if _SIGCHLD_handler_set or not main or not hasattr(signal, "SIGCHLD"):
        return
    from multiprocessing.util import is_exiting

    before = signal.getsignal(signal.SIGCHLD)

    def handler(number: int, frame: Any) -> None:
        if not is_exiting():  # Else processes that still run are ended, which is no failure.
            _error_if_any_worker_fails()
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGCHLD, handler)
    _SIGCHLD_handler_set = True


def _set_worker_signal_handlers() -> None:
    """Say which signal has ended a worker process, on the standard error, before it ends of it."""
    import faulthandler

    faulthandler.enable(_STANDARD_ERROR)
