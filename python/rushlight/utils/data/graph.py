"""Which pipes a pipe reads from.

>>> from rushlight.utils.data.datapipes import IterableWrapper
>>> pipe = IterableWrapper([1, 2]).map(str)
>>> ((last, before),) = traverse_dps(pipe).values()
>>> last is pipe, len(before)
(True, 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AnySet
from typing import TYPE_CHECKING, Any

from .datapipes import IterDataPipe, MapDataPipe

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["traverse", "traverse_dps"]


def traverse_dps(datapipe: Any) -> dict[int, tuple[Any, Any]]:
    """Return a pipe by its identity, with those that it reads from, each with its own."""
    return _graph(datapipe, frozenset())


def traverse(datapipe: Any, only_datapipe: bool | None = None) -> dict[int, tuple[Any, Any]]:
    """Return the same: what is looked through are the attributes of pipes, and what they contain."""
    return traverse_dps(datapipe)


def _graph(datapipe: Any, seen: frozenset[int]) -> dict[int, tuple[Any, Any]]:
    if not isinstance(datapipe, (IterDataPipe, MapDataPipe)):
        raise RuntimeError(f"Expected `IterDataPipe` or `MapDataPipe`, but {type(datapipe)} is found")
    if id(datapipe) in seen:
        return {}
    seen |= {id(datapipe)}
    before: dict[int, tuple[Any, Any]] = {}
    for pipe in _pipes_in(list(vars(datapipe).values())):
        before.update(_graph(pipe, seen))
    return {id(datapipe): (datapipe, before)}


def _pipes_in(value: Any) -> Iterator[Any]:
    if isinstance(value, (IterDataPipe, MapDataPipe)):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _pipes_in(one)
    elif isinstance(value, (Sequence, AnySet)) and not isinstance(value, (str, bytes, range)):
        for one in value:
            yield from _pipes_in(one)
