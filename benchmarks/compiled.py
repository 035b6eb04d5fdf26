"""How long whole steps take as they are written, and compiled: `PY benchmarks/compiled.py`.

Parts of names choose among them. With `--torch PY` and `--jax PY`, Pythons that have these, the same steps
are timed there too, torch's compiled ones with `--inductor`. Each way has a process of its own; they take
turns, and each time is the least of all rounds, on one thread."""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
from pathlib import Path

import steps

WORKER = Path(__file__).with_name("steps_worker.py")
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


class Way:
    """A way to run steps, in a process of its own."""

    def __init__(self, name: str, python: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [python, str(WORKER), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **ONE_THREAD},
            preexec_fn=lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]),
        )

    def seconds(self, step: str) -> float:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(step, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the process that times {self.name} ended: {self.process.wait()}")
        return float(answer)


def duration(seconds: float) -> str:
    return "–" if math.isnan(seconds) or math.isinf(seconds) else f"{seconds * 1e6:,.1f} µs"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--torch")
    parser.add_argument("--jax")
    parser.add_argument("--inductor", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    chosen = parser.parse_args()
    ways = [Way(name, sys.executable) for name in ("rushlight", "rushlight compiled", "rushlight many")]
    if chosen.torch:
        ways += [Way(name, chosen.torch) for name in ("torch", *["torch compiled"] * chosen.inductor)]
    if chosen.jax:
        ways += [Way(name, chosen.jax) for name in ("jax", "jax many")]
    print("| step | " + " | ".join(way.name for way in ways) + " | times as fast |")
    print("| --- |" + " ---: |" * (len(ways) + 1))
    for name in steps.STEPS:
        if chosen.parts and not any(part in name for part in chosen.parts):
            continue
        times = [math.inf] * len(ways)
        for _ in range(chosen.rounds):
            times = [min(before, way.seconds(name)) for way, before in zip(ways, times, strict=True)]
        # A call of one step beside the quickest other one: of many in a call, others leave out what repeats.
        calls = zip(ways[3:], times[3:], strict=True)
        others = [time for way, time in calls if "many" not in way.name and not math.isnan(time)]
        shown = " | ".join(duration(time) for time in times)
        print(f"| {name} | {shown} | {min(others or times[:1]) / times[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
