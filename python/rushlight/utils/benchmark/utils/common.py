"""What was measured, and of what: `Measurement` and `TaskSpec`, with the words and numbers for tables."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, fields
from math import ceil, floor, log10, sqrt
from statistics import mean, median, pstdev, quantiles
from textwrap import indent
from typing import TYPE_CHECKING, Any

from ...._rushlight import get_num_threads, set_num_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "Measurement",
    "TaskSpec",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "trim_sigfig",
    "unit_to_english",
]

_UNITS = {
    "ns": ("nanosecond", 1e-9),
    "us": ("microsecond", 1e-6),
    "ms": ("millisecond", 1e-3),
    "s": ("second", 1),
}
_BY_THOUSANDS = {-3: "ns", -2: "us", -1: "ms"}
# No error is taken to be smaller than what a clock resolves, and no number has more digits than these.
_LEAST_ERROR, _MOST_DIGITS = 25e-9, 4
# How far the middle half of the runs may be apart, as a share of the median, before one is told.
_WIDE, _VERY_WIDE = 0.1, 0.25


@dataclass(repr=False, frozen=True)
class TaskSpec:
    """What a `Timer` was told to measure."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """What the measurement is called: its label or its statement."""
        if self.label is None and "\n" in self.stmt:
            kind = f" ({self.sub_label})" if self.sub_label else ""
            return f"stmt:{kind}\n{indent(self.stmt, '  ')}"
        kind = f": {self.sub_label}" if self.sub_label else ""
        return (self.stmt if self.label is None else self.label) + kind

    def setup_str(self) -> str:
        """Return what was run before, in words."""
        if self.setup in ("", "pass"):
            return ""
        return f"setup:\n{indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Return what a measurement says of its task."""
        sections = (self.title, self.description, self.setup_str())
        return "\n".join(f"{one}\n" if "\n" in one else one for one in sections if one)


_OF_THE_TASK = frozenset(one.name for one in fields(TaskSpec))


@dataclass(repr=False)
class Measurement:
    """What several runs of a statement took, in seconds."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in _OF_THE_TASK:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

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
    def _middle_half(self) -> tuple[float, float]:
        if len(self.times) < 2:
            return self.median, self.median
        low, _, high = quantiles(self.times, method="inclusive")
        return low, high

    @property
    def iqr(self) -> float:
        """How far the middle half of all runs is apart."""
        low, high = self._middle_half
        return high - low

    @property
    def significant_figures(self) -> int:
        """How many digits of the median mean something, from how far the middle half is apart."""
        count = len(self.times)
        inner = sorted(self.times)[count // 4 : ceil(3 * count / 4)]
        error = max(1.645 * pstdev(inner) / sqrt(len(inner)), _LEAST_ERROR)
        return min(max(floor(log10(self.median / error)), 1), _MOST_DIGITS)

    @property
    def has_warnings(self) -> bool:
        """Whether the runs are so far apart that something else may have been measured."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _WIDE) -> bool:
        """Tell whether the middle half of the runs is no more apart than this share of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """What the measurement is called."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """What its row in a table is called."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        low, high = (one / scale for one in self._middle_half)
        count = len(self.raw_times)
        several, threads = count > 1, self.task_spec.num_threads
        lines = [
            object.__repr__(self),
            self.task_spec.summarize(),
            f"  {'Median: ' if several else ''}{self.median / scale:.2f} {unit}",
        ]
        if count >= 4:
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        lines.append(
            f"  {count} measurement{'s' * several}, {self.number_per_run} runs "
            f"{'per measurement,' if several else ','} {threads} thread{'s' * (threads > 1)}"
        )
        if self.has_warnings:
            cause = (
                "This could indicate system fluctuation."
                if self.meets_confidence(_VERY_WIDE)
                else "This suggests significant environmental influence."
            )
            share = f"{self.iqr / self.median * 100:.1f}%"
            lines.append(
                f"  WARNING: Interquartile range is {share} of the median measurement.\n           {cause}"
            )
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Make one of those of the same task."""
        groups: dict[TaskSpec, list[float]] = {}
        for one in measurements:
            groups.setdefault(one.task_spec, []).extend(one.times)
        return [Measurement(1, times, task) for task, times in groups.items()]


def select_unit(t: float) -> tuple[str, float]:
    """Return the unit in which a time is between 1 and 1,000, and how many seconds it is."""
    unit = _BY_THOUSANDS.get(floor(round(log10(t), 6) / 3), "s")
    return unit, _UNITS[unit][1]


def unit_to_english(u: str) -> str:
    """Return the word for a unit."""
    return _UNITS[u][0]


def trim_sigfig(x: float, n: int) -> float:
    """Round a number to so many digits."""
    scale = 10.0 ** (ceil(log10(abs(x))) - n)
    return round(x / scale) * scale


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Return each of the elements once, in the order in which they came."""
    return list(dict.fromkeys(elements))


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """Compute on so many threads in the block."""
    before = get_num_threads()
    set_num_threads(n)
    try:
        yield
    finally:
        set_num_threads(before)
