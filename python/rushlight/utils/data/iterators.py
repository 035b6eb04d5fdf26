"""What goes once through the batches of a loader."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from .sampler import fresh_seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .crew import Crew
    from .dataloader import DataLoader

__all__: list[str] = []


class _BaseDataLoaderIter:
    """Goes once through the batches of a loader."""

    # Of the loader it keeps what it needs, since a loader with persistent workers keeps the iterator.
    def __init__(self, loader: DataLoader[Any]) -> None:
        self._base_seed = fresh_seed(loader.generator)
        self._dataset = loader.dataset
        self._num_workers = loader.num_workers
        self._index_sampler = loader._index_sampler
        self._reset(loader, first_iter=True)

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        """Go through the batches, once more by the same workers."""
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._batches = self._begin(loader)

    def _begin(self, loader: DataLoader[Any]) -> Iterator[Any]:
        raise NotImplementedError

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def _next_data(self) -> Any:
        return next(self._batches)

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


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Reads in the process that asks."""

    def _begin(self, loader: DataLoader[Any]) -> Iterator[Any]:
        return map(loader._fetcher_maker()().fetch, self._index_sampler)


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Has workers read, which are processes."""

    _crew: Crew | None = None

    def _begin(self, loader: DataLoader[Any]) -> Iterator[Any]:
        from .crew import Crew  # Not every program reads by processes.

        if self._crew is None:
            self._crew = Crew(loader, self._base_seed)
        self._persistent_workers = loader.persistent_workers
        return self._crew.batches(iter(self._index_sampler), loader.prefetch_factor or 1)

    def _next_data(self) -> Any:
        try:
            return super()._next_data()
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
        self._batches = iter(())
        if self._crew is not None:
            self._crew.end()

    def __del__(self) -> None:
        self._shutdown_workers()
