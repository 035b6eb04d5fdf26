"""Python's `multiprocessing`, and how tensors reach other processes.

What is sent to another process is copied; what `Tensor.share_memory_` has moved is shared with those that are
forked afterwards.

>>> import rushlight as torch
>>> torch.multiprocessing.get_sharing_strategy()
'file_descriptor'
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403

from .spawn import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = "file_descriptor"

__all__ = [
    *multiprocessing.__all__,
    "ProcessContext",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]


def get_all_sharing_strategies() -> set[str]:
    """Return the names that `set_sharing_strategy` takes."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """Return the name that was set."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Say how memory is to be handed over. It makes no difference."""
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {_STRATEGIES}")
    _strategy = new_strategy
