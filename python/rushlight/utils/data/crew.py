"""The workers of a loader, as whoever asks for batches sees them: processes that owe results."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from contextlib import suppress
from itertools import cycle, islice
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

from ..._utils import ExceptionWrapper
from .worker_process import Begin, End, Work, work
from .workers import WorkerInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__: list[str] = []

_PATIENCE = 5.0  # Seconds in which a worker is to end by itself.


class Worker:
    """A process that reads."""

    def __init__(self, info: WorkerInfo, common: Work, context: Any) -> None:
        given, self.tasks = context.Pipe(duplex=False)
        self.results, taken = context.Pipe(duplex=False)
        self.process = context.Process(target=work, args=(info, common, given, taken), daemon=True)
        self.process.start()
        for theirs in (given, taken):
            theirs.close()
        self.active = True
        self.owed = 0

    def give(self, task: Any) -> None:
        """Tell it what to do. Whether it still lives is seen where the result is awaited."""
        with suppress(OSError):
            self.tasks.send(task)

    def begin(self) -> None:
        """Let it read from the start again; what it still owes is not wanted."""
        self.give(Begin)
        for _ in range(self.owed):
            self.take()
        self.active = True

    def take(self) -> Any:
        """Return its next result, for which it may have to be waited."""
        self.owed -= 1
        try:
            return ForkingPickler.loads(self.results.recv_bytes())
        except (EOFError, OSError):
            self.process.join(_PATIENCE)
        text = f"DataLoader worker (pid(s) {self.process.pid}) exited unexpectedly"
        raise RuntimeError(text) from RuntimeError(self._how_it_ended())

    def _how_it_ended(self) -> str:
        code, who = self.process.exitcode or 0, f"DataLoader worker (pid {self.process.pid})"
        if code >= 0:
            return (
                f"{who} exited unexpectedly with exit code {code}. Details are lost due to multiprocessing. "
                "Rerunning with num_workers=0 may give better error trace."
            )
        return f"{who} is killed by signal: {signal.strsignal(-code)}. "


class Crew:
    """All workers of a loader."""

    def __init__(self, loader: Any, base_seed: int) -> None:
        context: Any = loader.multiprocessing_context
        if not isinstance(context, multiprocessing.context.BaseContext):
            context = multiprocessing.get_context(context)
        common = Work(loader._fetcher_maker(), loader.worker_init_fn, base_seed)
        self._timeout = loader.timeout or None
        self._in_order = loader.in_order
        self._process = os.getpid()
        self.workers = [
            Worker(WorkerInfo(at, loader.num_workers, base_seed + at, loader.dataset), common, context)
            for at in range(loader.num_workers)
        ]
        self.ended = False

    def batches(self, indices: Iterator[Any], ahead: int) -> Iterator[Any]:
        """Return the batches of indices; each worker is given `ahead` of them before one is asked for."""
        for worker in self.workers:
            worker.begin()
        owing: deque[Worker] = deque()
        turns = cycle(self.workers)

        def send() -> None:
            """Give a batch to do to the next who has something to read, or to whoever owes least."""
            free = [worker for worker in islice(turns, len(self.workers)) if worker.active]
            for index in islice(indices, 1 if free else 0):
                worker = free[0] if self._in_order else min(free, key=lambda one: one.owed)
                while next(turns) is not worker:
                    pass
                worker.give(index)
                worker.owed += 1
                owing.append(worker)

        def read() -> Iterator[Any]:
            while owing:
                worker = self._next_of(owing)
                if not worker.active:
                    continue
                result = worker.take()
                worker.active = result is not End
                send()
                if worker.active:
                    yield result

        # Indices are drawn ahead, since workers read ahead.
        for _ in range(ahead * len(self.workers)):
            send()
        return map(_raised, read())

    def _next_of(self, owing: deque[Worker]) -> Worker:
        """Return who gives the next batch: whose turn it is, or whoever is first."""
        found = owing[0]
        if found.active:
            asked = {
                each.results: each for each in (owing if not self._in_order else (found,)) if each.active
            }
            ready = wait(asked, self._timeout)
            if not ready:
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
            found = asked[ready[0]]
        owing.remove(found)
        return found

    def end(self) -> None:
        """Let all go, and wait for them. In a process that was forked they are not its own."""
        if self.ended or os.getpid() != self._process:
            return
        self.ended = True
        for worker in self.workers:
            worker.give(End)
        for worker in self.workers:
            worker.process.join(_PATIENCE)
            if worker.process.is_alive():
                worker.process.terminate()
                worker.process.join()
            worker.tasks.close()
            worker.results.close()


def _raised(result: Any) -> Any:
    """Return a result; raise it, if it is a failure."""
    if isinstance(result, ExceptionWrapper):
        result.reraise()
    return result
