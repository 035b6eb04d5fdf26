"""Workers of a loader: they take turns in the process that asks, each with a world of its own.

A worker has its copy of the data set, its place in the order of batches, and random numbers that start from
its seed, so that samples are those that as many processes would give.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._utils import ExceptionWrapper
from ._seeds import _generate_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .dataloader import DataLoader

__all__ = ["WorkerInfo", "get_worker_info"]


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker knows of itself: its number, how many there are, its seed, its copy of the data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_at_work: list[WorkerInfo] = []  # Who reads just now, innermost last.


def get_worker_info() -> WorkerInfo | None:
    """Return what a worker of a loader is to know of itself; None where none reads.

    >>> import rushlight as torch
    >>> class Numbers(torch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         worker = torch.utils.data.get_worker_info()
    ...         return iter(range(worker.id, 6, worker.num_workers))
    >>> list(torch.utils.data.DataLoader(Numbers(), batch_size=None, num_workers=2))
    [0, 1, 2, 3, 4, 5]
    """
    return _at_work[-1] if _at_work else None


def _random_states() -> tuple[Any, ...]:
    of_numpy = sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else None
    return native.default_generator.get_state(), random.getstate(), of_numpy


def _set_random_states(states: tuple[Any, ...]) -> None:
    of_tensors, of_python, of_numpy = states
    native.default_generator.set_state(of_tensors)
    random.setstate(of_python)
    if of_numpy is not None:
        sys.modules["numpy"].random.set_state(of_numpy)


class Worker:
    """One who reads: what is random while it does so is its own."""

    def __init__(self, loader: DataLoader[Any], number: int, base_seed: int) -> None:
        try:
            dataset = copy(loader.dataset)
        except Exception:  # What cannot be copied is shared.
            dataset = loader.dataset
        self.number = number
        self.dataset = dataset
        self._info = WorkerInfo(
            id=number, num_workers=loader.num_workers, seed=base_seed + number, dataset=dataset
        )
        self._states: tuple[Any, ...] | None = None
        self._base_seed = base_seed
        self._failure: ExceptionWrapper | None = None
        self._samples: Iterator[Any] | None = None
        if loader.worker_init_fn is not None:
            try:
                with self._turn():
                    loader.worker_init_fn(number)
            except Exception:
                self._failure = self._failed()

    def _failed(self) -> ExceptionWrapper:
        """Return the exception that is handled just now, to be raised where the batch is awaited."""
        return ExceptionWrapper(where=f"in DataLoader worker process {self.number}")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Let it be at work in the block."""
        outside = _random_states()
        if self._states is None:
            native.default_generator.manual_seed(self._info.seed)
            random.seed(self._info.seed)
            if "numpy" in sys.modules:
                sys.modules["numpy"].random.seed(_generate_state(self._base_seed, self.number))
        else:
            _set_random_states(self._states)
        _at_work.append(self._info)
        try:
            yield
        finally:
            _at_work.pop()
            self._states = _random_states()
            _set_random_states(outside)

    def begin(self) -> None:
        """Begin to read from the start again."""
        self._samples = None

    def read(self, loader: DataLoader[Any], indices: Any) -> Any:
        """Return a batch: of these indices, or the next that the data set gives."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            failure.reraise()
        failed: ExceptionWrapper | None = None
        with self._turn():
            try:
                if indices is not None:
                    return loader._of_indices(self.dataset, indices)
                if self._samples is None:
                    self._samples = loader._in_batches(self.dataset)
                return next(self._samples)
            except Exception as error:
                if indices is None and isinstance(error, StopIteration):
                    raise
                failed = self._failed()
        return failed.reraise()


def in_turns(loader: DataLoader[Any], workers: list[Worker], is_iterable: bool) -> Iterator[Any]:
    """Return the batches of a loader as its workers read them, one after the other."""
    batches = None if is_iterable else iter(loader._index_sampler)
    active = [True] * len(workers)
    tasks: deque[tuple[Worker, Any]] = deque()
    at = 0

    def send() -> None:
        """Give a batch to do to the next who has something to read."""
        nonlocal at
        indices = None
        if batches is not None:
            try:
                indices = next(batches)
            except StopIteration:
                return
        for _ in workers:
            worker = workers[at]
            at = (at + 1) % len(workers)
            if active[worker.number]:
                tasks.append((worker, indices))
                return

    def read() -> Iterator[Any]:
        while tasks:
            worker, indices = tasks.popleft()
            if not active[worker.number]:
                continue
            try:
                batch = worker.read(loader, indices)
            except StopIteration:
                active[worker.number] = False
                send()
                continue
            send()
            yield batch

    # Indices are drawn ahead, as for processes that read ahead.
    for _ in range((loader.prefetch_factor or 1) * len(workers)):
        send()
    return read()
