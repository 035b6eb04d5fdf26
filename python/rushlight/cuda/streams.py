"""Queues of CUDA devices: none can be made, and a block in none runs as it is."""

from __future__ import annotations

from typing import Any

from .._devices.absent import Switch, Unavailable

__all__ = ["Event", "ExternalStream", "Stream", "StreamContext", "set_stream", "stream"]


class Stream(Unavailable):
    """A queue of a device."""


class ExternalStream(Stream):
    """A queue that another library has made."""


class Event(Unavailable):
    """A moment in a queue."""


class StreamContext(Switch):
    """A block whose work goes into a queue, or stays where it is if that is `None`."""


def stream(stream: Any) -> StreamContext:
    """Return a block whose work goes into a queue.

    >>> import rushlight as torch
    >>> with torch.cuda.stream(None):
    ...     torch.ones(1)
    tensor([1.])
    """
    return StreamContext(stream)


def set_stream(stream: Any) -> None:
    """Choose a queue. There is none to choose."""
