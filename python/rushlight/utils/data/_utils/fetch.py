"""Samples of a data set as batches: by their indices, or as the data set gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []


class _BaseDatasetFetcher:
    """Reads from a data set and joins what it has read."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return a batch, or without batches a sample."""
        raise NotImplementedError


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Reads by indices."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        dataset, indices = self.dataset, possibly_batched_index
        if not self.auto_collation:
            return self.collate_fn(dataset[indices])
        if hasattr(dataset, "__getitems__") and dataset.__getitems__:
            return self.collate_fn(dataset.__getitems__(indices))
        return self.collate_fn([dataset[index] for index in indices])


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Reads what comes next; of indices it matters how many there are."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        batch = []
        for _ in possibly_batched_index:
            try:
                batch.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not batch or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(batch)


class _DatasetKind:
    """How a data set is read."""

    Map, Iterable = 0, 1

    @staticmethod
    def create_fetcher(
        kind: int, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> _BaseDatasetFetcher:
        """Return what reads batches from a data set of this kind."""
        made = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return made(dataset, auto_collation, collate_fn, drop_last)
