"""Recorded work of CUDA devices: nothing can be recorded."""

from __future__ import annotations

from typing import Any

from .._devices.absent import Unavailable
from ._utils import NO_DEVICE

__all__ = ["CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"]


class CUDAGraph(Unavailable):
    """Recorded work."""


class graph:
    """A block whose work is recorded: an error, since there is no device."""

    def __init__(self, cuda_graph: Any, pool: Any = None, stream: Any = None, **options: Any) -> None:
        raise AssertionError(NO_DEVICE)


def is_current_stream_capturing() -> bool:
    """Tell whether work is being recorded: never."""
    return False


def graph_pool_handle() -> Any:
    """Return the memory that recorded work shares: an error, since there is no device."""
    raise RuntimeError("Tried to instantiate dummy base class _graph_pool_handle")


def make_graphed_callables(callables: Any, sample_args: Any, **options: Any) -> Any:
    """Record functions: an error, since there is no device."""
    raise AssertionError(NO_DEVICE)
