"""`Timer`: runs a statement often, and says how long once takes."""

from __future__ import annotations

import timeit
from dataclasses import dataclass, field
from statistics import mean, median, quantiles
from typing import Any

from ..._rushlight import get_num_threads, set_num_threads

__all__ = ["Measurement", "Timer", "timer"]

timer = timeit.default_timer

_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


@dataclass
class Measurement:
    """What several runs took, in seconds."""

    number_per_run: int
    raw_times: list[float]
    title: str
    num_threads: int = 1
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def times(self) -> list[float]:
        """What the statement took once, in each of the runs."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def mean(self) -> float:
        """What the statement takes once, as the mean of all runs."""
        return mean(self.times)

    @property
    def median(self) -> float:
        """What the statement takes once, in the middle one of all runs."""
        return median(self.times)

    @property
    def iqr(self) -> float:
        """How far the middle half of all runs is apart."""
        if len(self.times) < 2:
            return 0.0
        low, _, high = quantiles(self.times, method="inclusive")
        return high - low

    def __repr__(self) -> str:
        unit, size = next((each for each in _UNITS if self.median >= each[1]), _UNITS[-1])
        runs = "measurement" if len(self.raw_times) == 1 else "measurements"
        threads = "thread" if self.num_threads == 1 else "threads"
        return (
            f"{object.__repr__(self)}\n{self.title}\n  {self.median / size:.2f} {unit}\n"
            f"  {len(self.raw_times)} {runs}, {self.number_per_run} runs , {self.num_threads} {threads}"
        )


class Timer:
    """Measures a statement.

    >>> import rushlight as torch
    >>> timer = torch.utils.benchmark.Timer("x + x", globals={"x": torch.ones(2)})
    >>> timer.timeit(100).mean < 1.0
    True
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Any = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
    ) -> None:
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))
        self._title = ": ".join(part for part in (label or stmt, sub_label, description) if part)
        self._threads = num_threads

    def _run(self, number: int) -> float:
        before = get_num_threads()
        set_num_threads(self._threads)
        try:
            return self._timer.timeit(number)
        finally:
            set_num_threads(before)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._title, self._threads)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Run the statement so many times, and before that some more to get warm."""
        self._run(max(number // 100, 2))
        return self._measured(number, [self._run(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Refuse: one measurement says how much times differ."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    autorange = repeat

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Run the statement in blocks, long enough to be measured, for so many seconds."""
        number, times = 1, [self._run(1)]
        while times[0] < min_run_time / 1000 and number < 10**9:
            number *= 10
            times = [self._run(number)]
        while sum(times) < min_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
        return self._measured(number, times)
