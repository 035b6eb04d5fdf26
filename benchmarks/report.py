"""The measurements as tables of Markdown."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

INTRODUCTION = """\
# Benchmarks

Written by `make bench PY=/path/to/a/python-with-torch`; `make bench` alone measures rushlight only.

- Each library runs in a process of its own. What is compared takes turns, round by round. Times are the
  least of all rounds; a ratio is the median of what each round says: how many times longer the other took.
  A single thread is kept on one processor in a round, and all that is compared on the same.
- Times are of a call of a Python function that holds the code. *Net* is without what calling an empty
  function takes. Ratios are of the full times.
- One thread, unless the table says otherwise. Tensors are float32.
"""


def machine() -> str:
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    load = " ".join(f"{part:.1f}" for part in os.getloadavg())
    return (
        f"{model}, {os.cpu_count()} CPUs, {platform.system()} {platform.release()}, load at the start {load}"
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def shown(value: float | None, write: Callable[[float], str]) -> str:
    return "–" if value is None else write(value)


def duration(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def times(value: float) -> str:
    return f"{value:.2f}×" if value < 10 else f"{value:.1f}×"


def megabytes(value: float) -> str:
    return f"{value / 1e6:.3g} MB"


def at_least(value: float | None, target: float | None) -> str:
    """The target, and whether it was reached."""
    return verdict(target, None if value is None or target is None else value >= target, "≥", times)


def at_most(value: float | None, target: float | None, write: Callable[[float], str]) -> str:
    return verdict(target, None if value is None or target is None else value <= target, "≤", write)


def verdict(target: float | None, reached: bool | None, sign: str, write: Callable[[float], str]) -> str:
    if target is None:
        return ""
    return f"{sign} {write(target)}" + {None: "", True: " reached", False: " **missed**"}[reached]
