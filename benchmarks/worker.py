"""One process that times cases for one library: `worker.py LIBRARY`.

Reads a request a line ({"setup": ..., "code": ..., "threads": ..., "turn": ...}) and answers each with the
seconds of one run of the code, or with the error that it raised.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import textwrap
import timeit
from collections.abc import Callable
from typing import Any

from cases import Case

REPEATS = 3
SECONDS_A_REPEAT = 0.006
PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def settle(threads: int, turn: int) -> None:
    """Have a single thread run on one processor: another in every round, the same for all that is compared.

    Processors of one machine differ by what else they do, and the system leaves processes where they are.
    """
    if PROCESSORS:
        one = PROCESSORS[turn % len(PROCESSORS)]
        os.sched_setaffinity(0, [one] if threads == 1 else PROCESSORS)


class Worker:
    def __init__(self, library: str) -> None:
        self.library: Any = importlib.import_module(library)
        self.functions: dict[Case, Callable[[], object]] = {}
        self.counts: dict[tuple[Case, int], int] = {}

    def seconds(self, case: Case, threads: int) -> float:
        """The best of a few repeats, each of so many runs that it can be measured."""
        self.library.set_num_threads(threads)
        if case not in self.functions:
            self.functions[case] = self.prepared(case)
        timer = timeit.Timer(self.functions[case])
        if (case, threads) not in self.counts:
            self.counts[case, threads] = self.enough(timer)
        count = self.counts[case, threads]
        return min(timer.repeat(REPEATS, count)) / count

    def prepared(self, case: Case) -> Callable[[], object]:
        namespace: dict[str, Any] = {"torch": self.library}
        exec(case.setup, namespace)
        exec("def run():\n" + textwrap.indent(case.code.strip(), "    "), namespace)
        return namespace["run"]

    @staticmethod
    def enough(timer: timeit.Timer) -> int:
        count = 1
        timer.timeit(3)
        while (taken := timer.timeit(count)) < SECONDS_A_REPEAT / 2:
            count *= 2
        return max(1, round(count * SECONDS_A_REPEAT / taken))


def main() -> None:
    worker = Worker(sys.argv[1])
    print(json.dumps({"version": worker.library.__version__, "python": sys.version.split()[0]}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            settle(request["threads"], request["turn"])
            case = Case(request["code"], request["setup"])
            answer = {"seconds": worker.seconds(case, request["threads"])}
        except Exception as error:  # an operation may not be there (yet); the table says so
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
