"""What a worker of a loader does in its process: it reads the batches that it is told to, one by one."""

from __future__ import annotations

import queue
import random
import sys
import threading
from collections import deque
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._utils import ExceptionWrapper
from ._utils import worker
from ._utils.fetch import _IterableDatasetFetcher
from ._utils.signal_handling import _set_worker_signal_handlers
from ._utils.worker import WorkerInfo, _generate_state, _IterableDatasetStopIteration, _ResumeIteration
from .datapipes import IterDataPipe
from .graph_settings import apply_random_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

__all__: list[str] = []


class Leave:
    """The task to end."""


@dataclass(frozen=True, slots=True)
class Work:
    """What workers of a loader have in common."""

    make_fetcher: Callable[[], Any]
    worker_init_fn: Callable[[int], None] | None
    base_seed: int


def work(info: WorkerInfo, common: Work, tasks: Connection, results: Connection) -> None:
    """Be the worker until there are no more tasks, or nobody who gives any."""
    worker._worker_info = info
    _set_worker_signal_handlers()
    native.set_num_threads(1)
    random.seed(info.seed)
    native.default_generator.manual_seed(info.seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(_generate_state(common.base_seed, info.id))
    # Results leave by a thread, so that the next batch is read while nobody takes the last.
    ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_send, args=(ready, results), daemon=True).start()
    try:
        for result in _results(info, common, tasks):
            ready.put(_packed(result, info.id))
    except KeyboardInterrupt:
        pass  # Whoever waits for the batches is interrupted too, and says so.


def _results(info: WorkerInfo, common: Work, tasks: Connection) -> Iterator[Any]:
    """Read batch after batch; what fails becomes the failure, to be raised where the batch is awaited."""
    failure: ExceptionWrapper | None = None
    try:
        if common.worker_init_fn is not None:
            common.worker_init_fn(info.id)
    except Exception:
        failure = _failed(info.id)
    fetcher: Any = None
    for task in _tasks(tasks):
        if isinstance(task, _ResumeIteration):
            if isinstance(info.dataset, IterDataPipe):
                assert task.seed is not None
                apply_random_seed(info.dataset, native.Generator().manual_seed(task.seed))
            fetcher = None
            continue
        result: Any
        if failure is not None:
            result, failure = failure, None
        else:
            try:
                if fetcher is None:
                    fetcher = common.make_fetcher()
                result = fetcher.fetch(task)
            except Exception as error:
                ended = isinstance(error, StopIteration) and isinstance(fetcher, _IterableDatasetFetcher)
                result = _IterableDatasetStopIteration(info.id) if ended else _failed(info.id)
        yield result


def _tasks(tasks: Connection) -> Iterator[Any]:
    """Return what there is to do. Nothing of what is still to be done counts once the end is told."""
    parent = parent_process()
    sources: list[Any] = [tasks] if parent is None else [tasks, parent.sentinel]
    pending: deque[Any] = deque()
    while True:
        while not pending or tasks.poll():
            try:
                task = tasks.recv() if tasks in wait(sources) else Leave
            except EOFError:
                return
            if task is Leave:
                return
            pending.append(task)
        yield pending.popleft()


def _failed(number: int) -> ExceptionWrapper:
    return ExceptionWrapper(where=f"in DataLoader worker process {number}")


def _packed(result: Any, number: int) -> Any:
    try:
        return ForkingPickler.dumps(result)
    except Exception:  # What cannot leave the process is a failure as well.
        return ForkingPickler.dumps(_failed(number))


def _send(ready: queue.SimpleQueue[Any], results: Connection) -> None:
    try:
        while True:
            results.send_bytes(ready.get())
    except OSError:
        pass  # Nobody listens any more.
