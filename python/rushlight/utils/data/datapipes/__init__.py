"""Data as pipes of iterators. What libraries register as pipes works as the data sets that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ...._module_aliases import add_module_aliases
from ..dataset import Dataset, IterableDataset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Batcher", "IterDataPipe", "IterableWrapper", "MapDataPipe", "Mapper", "functional_datapipe"]


class _Pipe:
    """What has the functional forms of pipes as methods."""

    functions: ClassVar[dict[str, Any]]

    def __getattr__(self, name: str) -> Any:
        functions = type(self).functions
        if name in ("list_files", "open_files"):
            from . import files  # noqa: F401 - which registers them
        if name in functions:
            return lambda *args, **kwargs: functions[name](self, *args, **kwargs)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @classmethod
    def register_datapipe_as_function(cls, name: str, pipe: Any, **options: Any) -> None:
        """Have a pipe as a method of all."""
        if name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {name} as it is already taken")
        cls.functions[name] = pipe


class IterDataPipe(_Pipe, IterableDataset[Any]):
    """A pipe that is iterated over."""

    functions: ClassVar[dict[str, Any]] = {}


class MapDataPipe(_Pipe, Dataset[Any]):
    """A pipe whose items have keys."""

    functions: ClassVar[dict[str, Any]] = {}


class _DataPipeSerializationWrapper(_Pipe):
    """A pipe around another: loaders of other libraries wrap what goes to their processes."""

    def __init__(self, datapipe: Any) -> None:
        self._datapipe = datapipe

    def __len__(self) -> int:
        try:
            return len(self._datapipe)
        except Exception as failure:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length") from failure


class _IterDataPipeSerializationWrapper(_DataPipeSerializationWrapper, IterDataPipe):
    def __iter__(self) -> Iterator[Any]:
        yield from self._datapipe


class _MapDataPipeSerializationWrapper(_DataPipeSerializationWrapper, MapDataPipe):
    def __getitem__(self, key: Any) -> Any:
        return self._datapipe[key]


class functional_datapipe:
    """Give a class of pipes a functional form: a method by this name, of all pipes.

    >>> from rushlight.utils.data.datapipes import IterableWrapper
    >>> list(IterableWrapper([1, 2, 3]).map(lambda x: x + 1).batch(2))
    [[2, 3], [4]]
    """

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name

    def __call__(self, cls: type) -> type:
        if not issubclass(cls, _Pipe):
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe or MapDataPipe")
        cls.register_datapipe_as_function(self.name, cls)
        return cls


class IterableWrapper(IterDataPipe):
    """What can be iterated over, as a pipe."""

    def __init__(self, iterable: Any, deepcopy: bool = True) -> None:
        self.iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        # `iter` is a module here.
        return self.iterable.__iter__()  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(self.iterable)


@functional_datapipe("map")
class Mapper(IterDataPipe):
    """A function of every item."""

    def __init__(self, datapipe: Any, fn: Callable[[Any], Any]) -> None:
        self.datapipe, self.fn = datapipe, fn

    def __iter__(self) -> Iterator[Any]:
        return (self.fn(item) for item in self.datapipe)

    def __len__(self) -> int:
        return len(self.datapipe)


@functional_datapipe("filter")
class Filter(IterDataPipe):
    """The items of which a function says so."""

    def __init__(self, datapipe: Any, filter_fn: Callable[[Any], bool]) -> None:
        self.datapipe, self.filter_fn = datapipe, filter_fn

    def __iter__(self) -> Iterator[Any]:
        return filter(self.filter_fn, self.datapipe)


@functional_datapipe("batch")
class Batcher(IterDataPipe):
    """Lists of items."""

    def __init__(self, datapipe: Any, batch_size: int, drop_last: bool = False) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last

    def __iter__(self) -> Iterator[list[Any]]:
        batch: list[Any] = []
        for item in self.datapipe:
            batch.append(item)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch


@functional_datapipe("shuffle")
class Shuffler(IterDataPipe):
    """The items in an order of chance."""

    def __init__(self, datapipe: Any, *, buffer_size: int = 10000) -> None:
        self.datapipe = datapipe
        self._enabled = True

    def set_shuffle(self, shuffle: bool = True) -> Shuffler:
        """Leave the items in their order, or not."""
        self._enabled = shuffle
        return self

    def __iter__(self) -> Iterator[Any]:
        from ...._rushlight import randperm

        if not self._enabled:
            yield from self.datapipe
            return
        items = list(self.datapipe)
        yield from ([items[place] for place in randperm(len(items)).tolist()])


ShufflerIterDataPipe = Shuffler
_ALL = "Batcher Filter IterDataPipe IterableWrapper Mapper Shuffler ShufflerIterDataPipe functional_datapipe"

add_module_aliases(
    globals(),
    {
        "_decorator": {".": "functional_datapipe"},
        "datapipe": {
            ".": "IterDataPipe MapDataPipe _DataPipeSerializationWrapper _IterDataPipeSerializationWrapper "
            "_MapDataPipeSerializationWrapper"
        },
        "iter": {".": _ALL, ".files": "FileLister FileOpener"},
        "map": {".": "MapDataPipe"},
    },
)
add_module_aliases(vars(iter), {"combinatorics": {".": "ShufflerIterDataPipe"}})
