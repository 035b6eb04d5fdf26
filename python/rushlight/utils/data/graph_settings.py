"""Settings for all pipes that a pipe reads from: their share of the data, and whether they shuffle."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from .graph import traverse_dps

if TYPE_CHECKING:
    from ..._rushlight import Generator

__all__ = [
    "apply_random_seed",
    "apply_sharding",
    "apply_shuffle_settings",
    "get_all_graph_pipes",
]


def get_all_graph_pipes(graph: dict[int, tuple[Any, Any]]) -> list[Any]:
    """Return the pipes of a graph, each once.

    >>> from rushlight.utils.data.datapipes import IterableWrapper
    >>> from rushlight.utils.data.graph import traverse_dps
    >>> len(get_all_graph_pipes(traverse_dps(IterableWrapper([1]).map(str))))
    2
    """
    found: dict[int, Any] = {}
    for name, (pipe, before) in graph.items():
        found[name] = pipe
        found.update((id(one), one) for one in get_all_graph_pipes(before))
    return list(found.values())


def _that_have(method: str, datapipe: Any) -> list[Any]:
    pipes = get_all_graph_pipes(traverse_dps(datapipe))
    return [pipe for pipe in pipes if callable(getattr(type(pipe), method, None))]


def apply_sharding(datapipe: Any, num_of_instances: int, instance_id: int, sharding_group: Any = 1) -> Any:
    """Have the pipes that share data out give one share of several."""
    for pipe in _that_have("apply_sharding", datapipe):
        pipe.apply_sharding(num_of_instances, instance_id)
    return datapipe


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Have all pipes shuffle that do, or none; unless that is left to them."""
    if shuffle is None:
        return datapipe
    shufflers = _that_have("set_shuffle", datapipe)
    if shuffle and not shufflers:
        warnings.warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. "
            "Be aware that the default buffer size might not be sufficient for your task.",
            stacklevel=2,
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for pipe in shufflers:
        pipe.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe: Any, rng: Generator) -> Any:
    """Draw a seed for each pipe that takes one."""
    from ..._rushlight import empty, int64

    for pipe in _that_have("set_seed", datapipe):
        pipe.set_seed(int(empty((), dtype=int64).random_(generator=rng).item()))
    return datapipe
