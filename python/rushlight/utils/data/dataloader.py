"""`DataLoader`: batches of a data set, read in the process that asks for them or by workers."""

from __future__ import annotations

import os
import typing
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from ..._rushlight import Generator
from ._utils.fetch import _DatasetKind
from ._utils.worker import get_worker_info as get_worker_info
from .collate import default_collate, default_convert
from .datapipes import (
    IterDataPipe,
    MapDataPipe,
    _IterDataPipeSerializationWrapper,
    _MapDataPipeSerializationWrapper,
)
from .dataset import Dataset as Dataset
from .dataset import IterableDataset
from .graph_settings import apply_shuffle_settings
from .iterators import (
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)
from .iterators import _sharding_worker_init_fn as _sharding_worker_init_fn
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader"]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_collate_fn_t = typing.Callable[[list[_T]], Any]  # for the annotations of other loaders
_worker_init_fn_t = typing.Callable[[int], None]
_SETTLED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _InfiniteConstantSampler(Sampler[None]):
    """Stands for the order of a data set that has one of its own."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[_T_co]):
    """The samples of a data set in batches, in order or shuffled.

    With `num_workers`, as many processes read ahead. Each has its copy of the data set and its own random
    numbers; what they have read is copied to the process that asks.

    >>> import rushlight as torch
    >>> list(torch.utils.data.DataLoader(range(5), batch_size=2))
    [tensor([0, 1]), tensor([2, 3]), tensor([4])]
    """

    __initialized = False
    _iterator: _BaseDataLoaderIter | None = None
    _IterableDataset_len_called: int | None = None

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        _check_context(multiprocessing_context, num_workers)
        self.dataset: Any = _wrapped(dataset)
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        if isinstance(dataset, IterDataPipe):
            apply_shuffle_settings(dataset, shuffle)
            shuffle = None
        if iterable:
            _check_unspecified(shuffle, sampler, batch_sampler)
        _check_sampling(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size = None
        if sampler is None:
            if iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler: Any = sampler
        self.batch_sampler: Any = batch_sampler
        self.generator = generator
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self.__initialized = True
        self.check_worker_number_rationality()

    def check_worker_number_rationality(self) -> None:
        """Warn of more workers than there are processors for this program."""
        found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if found and self.num_workers > found:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested "
                f"max number of worker in current system is {found}, which is smaller than what this "
                "DataLoader is going to create. Please be aware that excessive worker creation might get "
                "DataLoader running slow or even freeze, lower the worker number to avoid potential "
                "slowness/freeze if necessary.",
                UserWarning,
                stacklevel=3,
            )

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in _SETTLED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    # What follows is asked for by name: loaders of others answer some of it themselves.

    @property
    def _auto_collation(self) -> bool:
        """Whether samples are joined to batches."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """What says, one after the other, of which indices a batch or a sample is."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self) -> _BaseDataLoaderIter:
        """Return what goes once through the batches."""
        if self.num_workers:
            return _MultiProcessingDataLoaderIter(self)
        return _SingleProcessDataLoaderIter(self)

    def __iter__(self) -> _BaseDataLoaderIter:
        if not (self.persistent_workers and self.num_workers):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Iterable:
            size: Any = self.dataset
            length = self._IterableDataset_len_called = len(size)
            if self.batch_size is None:
                return length
            rest = 0 if self.drop_last else self.batch_size - 1
            return (length + rest) // self.batch_size
        return len(self._index_sampler)


def _wrapped(dataset: Any) -> Any:
    """Return a data set that is a pipe in the wrapper in which pipes go to workers."""
    if isinstance(dataset, IterDataPipe):
        return _IterDataPipeSerializationWrapper(dataset)
    return _MapDataPipeSerializationWrapper(dataset) if isinstance(dataset, MapDataPipe) else dataset


def _check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to "
            "enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if num_workers > 0 and prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_context(context: Any, num_workers: int) -> None:
    """Refuse what says in no way how processes begin, or says it where there are none."""
    if context is None:
        return
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={num_workers}"
        )
    import multiprocessing.context

    methods = multiprocessing.get_all_start_methods()
    if isinstance(context, str) and context not in methods:
        raise ValueError(
            f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
            f"multiprocessing_context={context!r}"
        )
    if not isinstance(context, (str, multiprocessing.context.BaseContext)):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the "
            f"start method, but got multiprocessing_context={context}"
        )


def _check_unspecified(shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    """Refuse choices: a data set that says itself what comes next leaves none."""
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for option, value in given.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {option} option, but got "
                f"{option}={value}"
            )


def _check_sampling(
    batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
