"""`Timer`: runs a statement often, and says how long once takes."""

from __future__ import annotations

import timeit
from enum import Enum
from statistics import median
from textwrap import dedent
from typing import TYPE_CHECKING, Any, NoReturn

from .common import Measurement, TaskSpec, set_torch_threads

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Language", "Timer", "timer"]

timer = timeit.default_timer


class Language(Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


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
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise RuntimeError("statements in C++ are not measured: there is no compiler to run")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved "
                "to `setup`."
            )
        stmt, setup = _from_the_margin(stmt), _from_the_margin(setup)
        self._timer = timeit.Timer(stmt, setup, timer, {"torch": _package(), **(globals or {})})
        self._task = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _run(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Run the statement so many times, and before that some more to get warm."""
        with set_torch_threads(self._task.num_threads):
            self._run(max(number // 100, 2))
            return self._measured(number, [self._run(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Refuse: one measurement says how much times differ."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    autorange = repeat

    def blocked_autorange(
        self, callback: Callable[[int, float], NoReturn] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Run the statement in blocks, long enough to be measured, for so many seconds."""
        number = self._block(min_run_time)
        return self._until(lambda found: True, number, min_run_time, None, callback)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], NoReturn] | None = None,
    ) -> Measurement:
        """Run the statement in blocks until the middle half of them agrees to this share of the median."""

        def agree(found: Measurement) -> bool:
            return len(found.raw_times) > 3 and found.meets_confidence(threshold)

        return self._until(agree, self._block(0.05), min_run_time, max_run_time, callback)

    def _block(self, seconds: float) -> int:
        """Return how often the statement has to run so that what measures it takes no time beside it."""
        with set_torch_threads(self._task.num_threads):
            overhead = median(self._run(0) for _ in range(5))
            number = 1
            while number < 10**9:
                taken = self._run(number)
                if taken > seconds or (overhead / taken <= 1e-4 and taken >= seconds / 1000):
                    break
                number *= 10
        return number

    def _until(
        self,
        is_enough: Callable[[Measurement], bool],
        number: int,
        least: float,
        most: float | None,
        callback: Callable[[int, float], Any] | None,
    ) -> Measurement:
        found = self._measured(number, [])
        total = 0.0
        with set_torch_threads(self._task.num_threads):
            while total < least or not is_enough(found):
                found.raw_times.append(self._run(number))
                total += found.raw_times[-1]
                if callback is not None:
                    callback(number, found.raw_times[-1])
                if most is not None and total > most:
                    break
        return found


def _from_the_margin(code: str) -> str:
    """Return code as it would stand in a file of its own."""
    return dedent(code).removeprefix("\n").rstrip()


def _package() -> Any:
    """Return the package, which statements know as `torch`."""
    import rushlight

    return rushlight
