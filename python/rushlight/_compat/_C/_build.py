"""What programs ask of the build and of the machine: element types, instructions, idle settings."""

from __future__ import annotations

from ... import _rushlight as native
from ...backends.cpu import get_cpu_capability as _get_cpu_capability

__all__ = [
    "_get_all_dtypes",
    "_get_cpu_capability",
    "_get_graph_executor_optimize",
    "_set_graph_executor_optimize",
]

_executor = {"optimize": True}


def _get_all_dtypes() -> list[native.dtype]:
    """Return every type that elements can have."""
    return [each for each in vars(native).values() if isinstance(each, native.dtype)]


def _get_graph_executor_optimize(new_setting: bool | None = None) -> bool:
    """Tell whether graphs are optimised before they are run, and say so; nothing is run by graphs."""
    before = _executor["optimize"]
    if new_setting is not None:
        _executor["optimize"] = new_setting
    return before


def _set_graph_executor_optimize(optimize: bool) -> None:
    """Say whether graphs are optimised."""
    _executor["optimize"] = optimize
