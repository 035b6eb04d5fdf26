"""What goes once through the batches of a loader."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from ..._rushlight import Generator, empty, int64
from . import _utils
from ._utils.fetch import _DatasetKind
from ._utils.worker import get_worker_info
from .datapipes import IterDataPipe, MapDataPipe
from .graph_settings import apply_random_seed, apply_sharding
from .sampler import fresh_seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from .crew import Crew
    from .dataloader import DataLoader

__all__: list[str] = []


class _BaseDataLoaderIter:
    """Goes once through the batches of a loader. Iterators of other libraries are made of it."""

    # Of the loader it keeps what it needs, since a loader with persistent workers keeps the iterator.
    def __init__(self, loader: DataLoader[Any]) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin_memory, self._pin_memory_device = False, None  # There is no other device to copy to.
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._persistent_workers = loader.persistent_workers
        self._world_size, self._rank = _processes()
        self._shared_seed: int | None = None
        self._begin(loader)
        self._base_seed = fresh_seed(loader.generator)

    def _begin(self, loader: DataLoader[Any]) -> None:
        """Stand before the first batch."""
        if isinstance(self._dataset, IterDataPipe):
            self._shared_seed = _seed_of_all(loader.generator)
            apply_random_seed(self._dataset, Generator().manual_seed(self._shared_seed))
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        """Go through the batches, once more unless it is the first time, by the same workers."""
        self._begin(loader)

    def _fetcher_maker(self) -> Callable[[], Any]:
        """Return what makes readers of the data set, also in another process."""
        return partial(
            _DatasetKind.create_fetcher,
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
        )

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        batch = self._next_data()
        self._num_yielded += 1
        told = self._IterableDataset_len_called
        if told is not None and self._num_yielded > told:
            self._warn_of_length(told)
        return batch

    def _warn_of_length(self, told: int) -> None:
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {told}"
            f"(when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers:
            text += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        warnings.warn(text, UserWarning, stacklevel=3)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Reads in the process that asks."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        if isinstance(self._dataset, (IterDataPipe, MapDataPipe)):
            apply_sharding(self._dataset, self._world_size, self._rank)
        self._dataset_fetcher = self._fetcher_maker()()

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(self._next_index())


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Has workers read, which are processes."""

    _crew: Crew | None = None

    def __init__(self, loader: DataLoader[Any]) -> None:
        from .crew import Crew  # Not every program reads by processes.

        super().__init__(loader)
        begin = loader.worker_init_fn
        if isinstance(self._dataset, (IterDataPipe, MapDataPipe)):
            begin = partial(_sharding_worker_init_fn, begin, self._world_size, self._rank)
        self._crew = Crew(loader, self._fetcher_maker(), begin, self._base_seed)
        self._reset(loader, first_iter=True)

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        assert self._crew is not None
        if not first_iter:
            self._crew.resume(self._shared_seed)
        # Indices are drawn ahead, since workers read ahead.
        for _ in range((loader.prefetch_factor or 1) * self._num_workers):
            self._crew.give_next(self._next_index)

    def _next_data(self) -> Any:
        assert self._crew is not None
        try:
            return self._crew.take_next(self._next_index)
        except StopIteration:
            if not self._persistent_workers:
                self._shutdown_workers()
            raise

    @property
    def _workers(self) -> list[Any]:
        """The processes."""
        return [worker.process for worker in self._crew.workers] if self._crew else []

    @property
    def _shutdown(self) -> bool:
        """Whether the processes have been let go."""
        return self._crew is None or self._crew.ended

    def _shutdown_workers(self) -> None:
        """Let the processes go."""
        if self._crew is not None:
            self._crew.end()

    def __del__(self) -> None:
        # When the interpreter ends, it lets the processes go by itself, before modules are gone one by one.
        if not getattr(_utils, "python_exit_status", True):
            self._shutdown_workers()


def _processes() -> tuple[int, int]:
    """Return how many processes share the data, and which of them this is."""
    distributed = sys.modules.get("rushlight.distributed")
    if distributed is None or not distributed.is_initialized():
        return 1, 0
    return distributed.get_world_size(), distributed.get_rank()


def _seed_of_all(generator: Generator | None) -> int:
    """Draw a number that is the same in all processes that share the data."""
    seed = empty((), dtype=int64).random_(generator=generator)
    if _processes()[0] > 1:
        sys.modules["rushlight.distributed"].broadcast(seed, src=0)
    return int(seed.item())


def _sharding_worker_init_fn(
    worker_init_fn: Callable[[int], None] | None, world_size: int, rank_id: int, worker_id: int
) -> None:
    """Give a worker its share of a pipe: shares of processes first, in them those of workers."""
    info = get_worker_info()
    assert info is not None, "Worker info is None in sharding worker init function"
    apply_sharding(info.dataset, info.num_workers * world_size, worker_id * world_size + rank_id)
    if worker_init_fn is not None:
        worker_init_fn(worker_id)
