"""Queues of work and their events, by which programs order what devices do: a processor has one, always done.

Also the errors of devices, and the module of a kind of device.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .._rushlight import device as _device

if TYPE_CHECKING:
    from types import ModuleType

    from typing_extensions import Self

__all__ = ["AcceleratorError", "Event", "OutOfMemoryError", "Stream", "get_device_module"]


class OutOfMemoryError(RuntimeError):
    """A device has no more memory. Where memory of the processor cannot be had, it is a `RuntimeError`."""

    __module__ = "rushlight"


class AcceleratorError(RuntimeError):
    """A device has failed."""

    __module__ = "rushlight"


def _kind(device: Any) -> _device:
    found = _device("cpu" if device is None else device)
    if found.type != "cpu":
        raise RuntimeError(f"Cannot make a stream or an event of device type {found.type}: there is none")
    return found


class Stream:
    """The queue of a processor, in which everything is done when its call returns.

    >>> import rushlight as torch
    >>> with torch.Stream("cpu") as stream:
    ...     stream.query()
    True
    """

    __module__ = "rushlight"

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        self.device = _kind(device)
        self.device_index = -1
        self.device_type = 0
        self.stream_id = 0

    def query(self) -> bool:
        """Tell whether everything is done."""
        return True

    def synchronize(self) -> None:
        """Wait until everything is done, which it is."""

    def wait_stream(self, stream: Stream) -> None:
        """Do what comes after what is in another queue."""

    def wait_event(self, event: Event) -> None:
        """Do what comes after an event."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event, a new one if none is given."""
        recorded = Event(self.device) if event is None else event
        recorded.record(self)
        return recorded

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.device == other.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return (
            f"torch.Stream device_type={self.device.type}, device_index={self.device_index}, "
            f"stream_id={self.stream_id}"
        )


class Event:
    """A moment in a queue, which can be waited for, and between two of which time can be measured.

    >>> import rushlight as torch
    >>> first, second = torch.Event("cpu", enable_timing=True), torch.Event("cpu", enable_timing=True)
    >>> first.record(), second.record()
    (None, None)
    >>> first.elapsed_time(second) >= 0.0
    True
    """

    __module__ = "rushlight"

    def __init__(
        self,
        device: Any = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        self.device = _kind(device)
        self.event_id = 0
        self._times = enable_timing
        self._recorded: float | None = None

    def record(self, stream: Any = None) -> None:
        """Say that it is now."""
        self._recorded = time.perf_counter()

    def query(self) -> bool:
        """Tell whether everything before it is done."""
        return True

    def wait(self, stream: Any = None) -> None:
        """Do what comes after it."""

    def synchronize(self) -> None:
        """Wait for it."""

    def elapsed_time(self, end_event: Event) -> float:
        """Return how many milliseconds passed until another event."""
        if not self._times or not end_event._times:
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._recorded is None or end_event._recorded is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._recorded - self._recorded) * 1000.0

    def __repr__(self) -> str:
        return f"torch.Event device_type={self.device.type}, device_index=-1, event_flag=0, event_id=0"


def get_device_module(device: Any = None) -> ModuleType:
    """Return the module of a kind of device, that of the processor if none is named.

    >>> import rushlight as torch
    >>> torch.get_device_module("cpu").current_device()
    'cpu'
    """
    kind = _device("cpu" if device is None else device).type
    try:
        return import_module(f".{kind}", __package__)
    except ModuleNotFoundError:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered.") from None
