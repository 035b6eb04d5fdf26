"""What became of a compiled function, in words."""

from __future__ import annotations

import time
from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any

from .function import Function
from .picture import picture

if TYPE_CHECKING:
    from collections.abc import Callable

_CALLS = 6
_TIMED = 5


class Explanation:
    """Whether a function was recorded, why not, and what its program does."""

    def __init__(self, function: Function, seconds: tuple[float, float]) -> None:
        self.programs = function.programs
        self.reason = function.reason
        self.seconds_as_written, self.seconds = seconds
        self._name = getattr(function, "__name__", repr(function))

    @property
    def is_recorded(self) -> bool:
        """Whether there is a program that is run in the place of the function."""
        return bool(self.programs)

    def __str__(self) -> str:
        if not self.programs:
            return f"{self._name} runs as it is written: {self.reason}."
        program = self.programs[-1]
        operations = program.operations()
        most = ", ".join(f"{count} {name}" for name, count in Counter(operations).most_common(5))
        made, at_once = program.bytes()
        groups = len({number for _, number, _ in program.groups()})
        lines = [
            f"{self._name} runs as a program of {len(operations)} operations ({most}), in {groups} groups.",
            f"It makes {made:,} bytes, {at_once:,} of them at a time, in {program.kept():,} that it keeps.",
            f"A call takes {self.seconds * 1e6:.1f} µs, "
            f"and {self.seconds_as_written * 1e6:.1f} µs as it is written.",
        ]
        if len(self.programs) > 1:
            lines.append(f"There are {len(self.programs)} programs, for different arguments.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the same with a picture, as notebooks show it."""
        text = f"<pre>{escape(str(self))}</pre>"
        if not self.programs:
            return text
        legend = (
            "<small>green: computed together, a tile at a time; blue: into memory that is kept; "
            "orange: into new memory</small>"
        )
        return f"{text}{picture(self.programs[-1].groups())}<br/>{legend}"


def explain(function: Callable[..., Any]) -> Callable[..., Explanation]:
    """Return a function that calls `function` until it is recorded, or was found not to be, and tells of it.

    It is called as often as that takes, and a few times to see how long it takes: what it does to parameters
    is done each time.

    >>> import rushlight as torch
    >>> w = torch.ones(2)
    >>> print(torch.compiler.explain(lambda x: print(x.sum().item()))(w))
    2.0
    2.0
    2.0
    2.0
    2.0
    2.0
    <lambda> runs as it is written: print() is called at <doctest...
    """
    compiled = function if isinstance(function, Function) else Function(function)

    def explained(*args: Any, **kwargs: Any) -> Explanation:
        for _ in range(_CALLS):
            compiled(*args, **kwargs)
        if not compiled.programs:
            return Explanation(compiled, (0.0, 0.0))
        return Explanation(
            compiled, (_timed(compiled._function, args, kwargs), _timed(compiled, args, kwargs))
        )

    return explained


def _timed(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
    """Return the least time that a call takes."""
    least = float("inf")
    for _ in range(_TIMED):
        start = time.perf_counter()
        function(*args, **kwargs)
        least = min(least, time.perf_counter() - start)
    return least
