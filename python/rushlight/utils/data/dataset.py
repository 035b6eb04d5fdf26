"""Data sets: what has samples by index, or one after the other."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from ..._rushlight import Generator, Tensor, default_generator, randperm

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

_T_co = TypeVar("_T_co", covariant=True)


class Dataset(Generic[_T_co]):
    """Samples by index: a subclass says what `dataset[index]` is, and most say their length."""

    def __getitem__(self, index: Any) -> _T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co]):
    """Samples one after the other: a subclass says what iterating gives."""

    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset[Any]) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Samples that are the rows of tensors.

    >>> import rushlight as torch
    >>> data = torch.utils.data.TensorDataset(torch.zeros(3, 2), torch.arange(3))
    >>> len(data), data[1]
    (3, (tensor([0., 0.]), tensor(1)))
    """

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset[Any]):
    """Samples of several data sets side by side: tuples of them, or dictionaries if the sets have names.

    >>> import rushlight as torch
    >>> from rushlight.utils.data import StackDataset
    >>> StackDataset(image=["a", "b"], label=[0, 1])[1]
    {'image': 'b', 'label': 1}
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Dataset[Any], **kwargs: Dataset[Any]) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, "
                "but both types are given."
            )
        self.datasets = args or kwargs
        if not self.datasets:
            raise ValueError("At least one dataset should be passed")
        lengths = [len(dataset) for dataset in self._each()]
        self._length = lengths[0]
        if any(length != self._length for length in lengths):
            raise ValueError("Size mismatch between datasets")

    def _each(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _together(self, samples: Iterable[Any]) -> Any:
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, samples, strict=True))
        return tuple(samples)

    def __getitem__(self, index: Any) -> Any:
        return self._together(dataset[index] for dataset in self._each())

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        columns = [_samples_of(dataset, indices) for dataset in self._each()]
        return [self._together(row) for row in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


def _samples_of(dataset: Any, indices: list[Any]) -> Sequence[Any]:
    at_once = getattr(dataset, "__getitems__", None)
    if not callable(at_once):
        return [dataset[index] for index in indices]
    samples: Sequence[Any] = at_once(indices)
    if len(samples) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)}"
        )
    return samples


class ConcatDataset(Dataset[_T_co]):
    """The samples of data sets, one set behind the other.

    >>> import rushlight as torch
    >>> from rushlight.utils.data import ConcatDataset
    >>> list(ConcatDataset([[1, 2], [3]]))
    [1, 2, 3]
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets: list[Any] = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Return how many samples there are up to the end of each set.

        >>> from rushlight.utils.data import ConcatDataset
        >>> ConcatDataset.cumsum([[1, 2], [3]])
        [2, 3]
        """
        return list(accumulate(len(dataset) for dataset in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> _T_co:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        number = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[number - 1] if number else 0
        sample: _T_co = self.datasets[number][index - before]
        return sample


class ChainDataset(IterableDataset[Any]):
    """The samples of iterable data sets, one set after the other."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets: Any = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset[_T_co]):
    """Those samples of a data set whose indices are given.

    >>> import rushlight as torch
    >>> from rushlight.utils.data import Subset
    >>> list(Subset([5, 6, 7], [0, 2]))
    [5, 7]
    """

    def __init__(self, dataset: Dataset[_T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> _T_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[number] for number in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset[Any]]:
    """Split a data set at random into sets of these lengths, or of these shares if they sum to one.

    >>> import rushlight as torch
    >>> [len(part) for part in torch.utils.data.random_split(range(10), [0.25, 0.75])]
    [3, 7]
    """
    size = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for number, share in enumerate(lengths):
            if share < 0 or share > 1:
                raise ValueError(f"Fraction at index {number} is not between 0 and 1")
        counts = [math.floor(size * share) for share in lengths]
        for number in range(size - sum(counts)):
            counts[number % len(counts)] += 1
        lengths = counts
        for number, count in enumerate(counts):
            if count == 0:
                warnings.warn(
                    f"Length of split at index {number} is 0. This might result in an empty dataset.",
                    stacklevel=2,
                )
    if sum(lengths) != size:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(size, generator=generator).tolist()
    ends = list(accumulate(lengths))
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
