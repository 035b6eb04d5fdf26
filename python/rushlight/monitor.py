"""Events that a program logs of itself, and who is told of them.

>>> import datetime
>>> import rushlight as torch
>>> seen = []
>>> handle = torch.monitor.register_event_handler(seen.append)
>>> stat = torch.monitor.Stat("loss", [torch.monitor.MEAN], datetime.timedelta(hours=1))
>>> stat.add(1.0)
>>> stat.add(3.0)
>>> del stat
>>> seen[0].name, seen[0].data
('torch.monitor.Stat', {'loss.mean': 2.0})
>>> torch.monitor.unregister_event_handler(handle)
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "COUNT",
    "MAX",
    "MEAN",
    "MIN",
    "STAT_EVENT",
    "SUM",
    "VALUE",
    "Aggregation",
    "Event",
    "EventHandlerHandle",
    "Stat",
    "TensorboardEventHandler",
    "data_value_t",
    "log_event",
    "register_event_handler",
    "unregister_event_handler",
]

STAT_EVENT = "torch.monitor.Stat"
data_value_t = str | float | int | bool


class Aggregation(Enum):
    """What numbers come to: the last, or one of all."""

    VALUE = 1
    MEAN = 2
    COUNT = 3
    SUM = 4
    MAX = 5
    MIN = 6


VALUE, MEAN, COUNT, SUM, MAX, MIN = Aggregation


class Event:
    """Something that happened: its name, when, and numbers or texts by name."""

    def __init__(self, name: str, timestamp: datetime, data: dict[str, Any]) -> None:
        self.name, self.timestamp, self.data = name, timestamp, data


class EventHandlerHandle:
    """By which someone who is told of events can be told no longer."""

    def __init__(self, callback: Callable[[Event], None]) -> None:
        self.callback = callback


_told: list[EventHandlerHandle] = []


def log_event(event: Event) -> None:
    """Tell everybody of an event."""
    for handle in list(_told):
        handle.callback(event)


def register_event_handler(callback: Callable[[Event], None]) -> EventHandlerHandle:
    """Have a function called with every event from now on."""
    _told.append(EventHandlerHandle(callback))
    return _told[-1]


def unregister_event_handler(handle: EventHandlerHandle) -> None:
    """Have it called no longer."""
    if handle in _told:
        _told.remove(handle)


_OF_ALL: dict[Aggregation, Callable[[list[float]], float]] = {
    Aggregation.VALUE: lambda numbers: numbers[-1] if numbers else 0,
    Aggregation.MEAN: lambda numbers: sum(numbers) / len(numbers) if numbers else 0,
    Aggregation.COUNT: len,
    Aggregation.SUM: sum,
    Aggregation.MAX: lambda numbers: max(numbers, default=0),
    Aggregation.MIN: lambda numbers: min(numbers, default=0),
}


class Stat:
    """Numbers of a time, which become an event when it is over, or when nobody adds to them any longer."""

    def __init__(
        self,
        name: str,
        aggregations: Iterable[Aggregation],
        window_size: timedelta,
        max_samples: int | None = None,
    ) -> None:
        self.name, self._aggregations, self._max = name, list(aggregations), max_samples
        self._window = window_size.total_seconds()
        self._numbers: list[float] = []
        self._logged: dict[Aggregation, float] = dict.fromkeys(self._aggregations, 0.0)
        self._is_full = False  # Whether as many as there may be of this time are logged.
        self._began = self._window_now()

    def _window_now(self) -> float:
        return time.monotonic() // self._window

    @property
    def count(self) -> int:
        """How many numbers wait to be logged."""
        return len(self._numbers)

    def get(self) -> dict[Aggregation, float]:
        """Return what the numbers came to that were logged last."""
        return dict(self._logged)

    def add(self, v: float) -> None:
        """Add a number; those of a time that is over are logged before, and those that are enough at once."""
        if self._window_now() != self._began:
            self._began, self._is_full = self._window_now(), False
            self._log()
        if self._is_full:
            return
        self._numbers.append(v)
        if self._max is not None and len(self._numbers) >= self._max:
            self._is_full = True
            self._log()

    def _log(self) -> None:
        if self._numbers:
            self._logged = {each: float(_OF_ALL[each](self._numbers)) for each in self._aggregations}
            data = {f"{self.name}.{each.name.lower()}": number for each, number in self._logged.items()}
            self._numbers = []
            log_event(Event(STAT_EVENT, datetime.now(), data))

    def __del__(self) -> None:
        self._log()


class TensorboardEventHandler:
    """Writes the numbers of `Stat` with a writer of tensorboard."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        if event.name == STAT_EVENT:
            for name, number in event.data.items():
                self._writer.add_scalar(name, number, walltime=event.timestamp.timestamp())
