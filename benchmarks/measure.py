"""Timing cases in processes of their own, in strictly alternating rounds."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from cases import EMPTY, Case

WORKER = Path(__file__).with_name("worker.py")


class Library:
    """A library and the process in which it is timed."""

    def __init__(self, python: str, name: str) -> None:
        self.python = python
        self.name = name
        self.process = subprocess.Popen(
            [python, str(WORKER), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        hello = self.answer()
        self.version, self.python_version = hello["version"], hello["python"]

    def answer(self) -> dict:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the process that times {self.name} ended: {self.process.wait()}")
        return json.loads(line)

    def seconds(self, case: Case, threads: int, turn: int) -> float | None:
        """The time of one run in the round of that number, or None where the library cannot run the case."""
        assert self.process.stdin is not None
        request = {"setup": case.setup, "code": case.code, "threads": threads, "turn": turn}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.answer()
        if "error" in answer:
            print(f"{self.name}: {answer['error']}", file=sys.stderr)
        return answer.get("seconds")

    def close(self) -> None:
        self.process.communicate()


@dataclass
class Timing:
    """The rounds of one case for one library with so many threads."""

    rounds: list[float] = field(default_factory=list)
    empty: list[float] = field(default_factory=list)
    """What calling an empty function took, next to each round."""

    @property
    def raw(self) -> float | None:
        return min(self.rounds, default=None)

    @property
    def net(self) -> float | None:
        return max(0.0, min(self.rounds) - min(self.empty)) if self.rounds else None

    def per(self, operations: int) -> Timing:
        """The same for one of so many operations that a run does."""
        return Timing([t / operations for t in self.rounds], [t / operations for t in self.empty])


def ratio(slower: Timing, faster: Timing) -> float | None:
    """The median of what each round says, so that a disturbed round does not decide."""
    if not slower.rounds or not faster.rounds:
        return None
    return statistics.median(a / b for a, b in zip(slower.rounds, faster.rounds, strict=True))


def timings(runs: list[tuple[Case, Library, int]], rounds: int) -> list[Timing]:
    """Time each (case, library, number of threads) in turn, round after round."""
    results = [Timing() for _ in runs]
    for turn in range(rounds):
        for (case, library, threads), timing in zip(runs, results, strict=True):
            seconds = library.seconds(case, threads, turn)
            empty = library.seconds(EMPTY, threads, turn)
            if seconds is not None and empty is not None:
                timing.rounds.append(seconds)
                timing.empty.append(empty)
    return [timing.per(case.operations) for timing, (case, _, _) in zip(results, runs, strict=True)]
