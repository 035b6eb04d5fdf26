"""The workers of a loader, as whoever asks for batches sees them: processes that owe results."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from contextlib import suppress
from itertools import cycle, islice
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

from ..._utils import ExceptionWrapper
from ._utils import MP_STATUS_CHECK_INTERVAL
from ._utils.signal_handling import how_it_ended
from ._utils.worker import WorkerInfo, _IterableDatasetStopIteration, _ResumeIteration
from .worker_process import Leave, Work, work

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []


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

    def resume(self, seed: int | None) -> None:
        """Let it read from the start again; what it still owes is not wanted."""
        self.give(_ResumeIteration(seed))
        for _ in range(self.owed):
            self.take()
        self.active = True

    def take(self) -> Any:
        """Return its next result, for which it may have to be waited."""
        self.owed -= 1
        try:
            return ForkingPickler.loads(self.results.recv_bytes())
        except (EOFError, OSError):
            self.process.join(MP_STATUS_CHECK_INTERVAL)
        number = self.process.pid
        text = f"DataLoader worker (pid(s) {number}) exited unexpectedly"
        raise RuntimeError(text) from RuntimeError(how_it_ended(number, self.process.exitcode or 0))


class Crew:
    """All workers of a loader."""

    def __init__(
        self,
        loader: Any,
        make_fetcher: Callable[[], Any],
        worker_init_fn: Callable[[int], None] | None,
        base_seed: int,
    ) -> None:
        context: Any = loader.multiprocessing_context
        if not isinstance(context, multiprocessing.context.BaseContext):
            context = multiprocessing.get_context(context)
        common = Work(make_fetcher, worker_init_fn, base_seed)
        self._timeout = loader.timeout or None
        self._in_order = loader.in_order
        self._process = os.getpid()
        self.workers = [
            Worker(WorkerInfo(at, loader.num_workers, base_seed + at, loader.dataset), common, context)
            for at in range(loader.num_workers)
        ]
        self._turns = cycle(self.workers)
        self._owing: deque[Worker] = deque()
        self.ended = False

    def resume(self, seed: int | None) -> None:
        """Let all read from the start again, pipes by this seed."""
        for worker in self.workers:
            worker.resume(seed)
        self._turns = cycle(self.workers)
        self._owing.clear()

    def give_next(self, next_index: Callable[[], Any]) -> None:
        """Give a batch to read to the next who has something to read, or to whoever owes least."""
        free = [worker for worker in islice(self._turns, len(self.workers)) if worker.active]
        if not free:
            return
        try:
            index = next_index()
        except StopIteration:
            return
        worker = free[0] if self._in_order else min(free, key=lambda one: one.owed)
        while next(self._turns) is not worker:
            pass
        worker.give(index)
        worker.owed += 1
        self._owing.append(worker)

    def take_next(self, next_index: Callable[[], Any]) -> Any:
        """Return the next batch, in whose place another is given to read."""
        while self._owing:
            worker = self._next_of_owing()
            if not worker.active:
                continue
            result = worker.take()
            worker.active = not isinstance(result, _IterableDatasetStopIteration)
            self.give_next(next_index)
            if isinstance(result, ExceptionWrapper):
                result.reraise()
            if worker.active:
                return result
        raise StopIteration

    def _next_of_owing(self) -> Worker:
        """Return who gives the next batch: whose turn it is, or whoever is first."""
        found = self._owing[0]
        if found.active:
            asked = {
                each.results: each
                for each in (self._owing if not self._in_order else (found,))
                if each.active
            }
            ready = wait(asked, self._timeout)
            if not ready:
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
            found = asked[ready[0]]
        self._owing.remove(found)
        return found

    def end(self) -> None:
        """Let all go, and wait for them. In a process that was forked they are not its own."""
        if self.ended or os.getpid() != self._process:
            return
        self.ended = True
        self._owing.clear()
        for worker in self.workers:
            worker.give(Leave)
        for worker in self.workers:
            worker.process.join(MP_STATUS_CHECK_INTERVAL)
            if worker.process.is_alive():
                worker.process.terminate()
                worker.process.join()
            worker.tasks.close()
            worker.results.close()
