"""How a batch is read: by the indices of its samples, or as the data set goes on by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__: list[str] = []


class _BaseDatasetFetcher:
    """Reads batches, or single samples where nothing joins them."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self.dataset, self.collate_fn = dataset, collate_fn
        self.auto_collation, self.drop_last = auto_collation, drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return what is to be read next."""
        raise NotImplementedError


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Reads the samples of indices."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        if getattr(self.dataset, "__getitems__", None):
            return self.collate_fn(self.dataset.__getitems__(possibly_batched_index))
        return self.collate_fn([self.dataset[index] for index in possibly_batched_index])


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Reads as many samples as there are indices, whatever these are."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter: Iterator[Any] = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        samples = []
        for _ in possibly_batched_index:
            try:
                samples.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if self.ended and (self.drop_last or not samples):
            raise StopIteration
        return self.collate_fn(samples)
