"""Searches for faults: `python fuzz/run.py [-s SECONDS] [-j PROCESSES] [--seed N] [target ...]`.

The README beside this file says what counts as a fault. Exits with 1 if there is one.
"""

import argparse
import importlib
import json
import os
import random
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from smaller import LEFT_ALONE, key, minimised, outcome
from worker import HANGS, NOTES_SIZE, noted, script

TARGETS = sorted(path.stem for path in (HERE / "targets").glob("[a-z]*.py"))
FOUND = HERE / "found"
# Programs that a process runs before another takes its place: what it leaks or changes goes with it. To begin takes
# as long as two thousand programs.
TURN = 20000


class Lane:
    """One process after the other, each with its share of a target's programs."""

    def __init__(self, target, seed, number, lanes):
        self.target, self.seed, self.next, self.step = target, seed, number, lanes
        self.notes = tempfile.NamedTemporaryFile(prefix="notes-")  # noqa: SIM115
        self.notes.truncate(NOTES_SIZE)
        self.start()

    def start(self):
        self.first, self.seen, self.at, self.worked = self.next, -1, time.monotonic(), 0.0
        self.notes.truncate(0)
        self.notes.truncate(NOTES_SIZE)
        given = [self.target, self.seed, self.next, TURN, self.step, self.notes.name]
        command = [sys.executable, str(HERE / "worker.py"), *map(str, given)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.ended = False

    def done(self):
        """How many programs of this turn have run."""
        number, _ = noted(self.notes.name)
        return max(0, (number - self.first) // self.step)

    def hangs(self):
        number, source = noted(self.notes.name)
        worked = work_of(self.process.pid)
        if number != self.seen:
            self.seen, self.at, self.worked = number, time.monotonic(), worked
        # Before there is a program, the library is loaded. A process that waits for others is not to blame.
        waited = time.monotonic() - self.at
        return waited > LEFT_ALONE * HANGS or (source != "" and worked - self.worked > HANGS)

    def stop(self):
        self.process.kill()
        self.process.wait()


def work_of(process):
    """The seconds that a process has worked."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


class Search:
    """A search of one target: what ran, and what was found."""

    def __init__(self, target, options):
        self.target, self.options = target, options
        self.programs, self.slow, self.faults = 0, 0, {}

    def run(self, seconds):
        lanes = [Lane(self.target, self.options.seed, i, self.options.jobs) for i in range(self.options.jobs)]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.wait(lanes)
            for lane in lanes:
                self.look(lane)
        for lane in lanes:
            self.listen(lane)
            self.programs += lane.done()
            lane.stop()

    def wait(self, lanes):
        with selectors.DefaultSelector() as selector:
            for lane in lanes:
                selector.register(lane.process.stdout, selectors.EVENT_READ)
            selector.select(0.5)

    def listen(self, lane):
        while line := lane.process.stdout.readline():
            number, *rest = json.loads(line)
            if number == "end":
                lane.ended, self.slow = True, self.slow + rest[0]
            else:
                self.met(self.source(number), tuple(rest))

    def look(self, lane):
        self.listen(lane)
        hangs, code = lane.hangs(), lane.process.poll()
        if code is None and not hangs:
            return
        self.listen(lane)
        lane.stop()
        number, source = noted(lane.notes.name)
        self.programs += lane.done() + 1
        if not lane.ended:
            self.met(source, ("hang", "") if hangs else ("died", f"exit {code}"))
        lane.next = max(number, lane.first) + lane.step
        lane.start()

    def source(self, number):
        """A program again, by its number."""
        program = importlib.import_module(f"targets.{self.target}").program
        return program(random.Random(f"{self.target}/{self.options.seed}/{number}"))

    def met(self, source, found):
        """A fault; the first of its kind is made smaller and told."""
        same = key(found)
        if found[0] in ("died", "hang"):
            again = outcome(source)
            if again is None:
                # Only what ran before may explain it.
                same = (*same, "not again")
            else:
                source = minimised(source, again)
                same = (*key(again), source.split("(")[0])
        self.faults.setdefault(same, [])
        self.faults[same].append(source)
        if len(self.faults[same]) == 1:
            if len(same) == 2 and outcome(source):
                source = minimised(source, outcome(source))
            self.tell(source, found)

    def tell(self, source, found):
        text = f"# {self.target}: {found[0]}: {found[1]!r}\nimport rushlight as torch\n\n{script(source)}\n"
        print(f"\n{text}", flush=True)
        FOUND.mkdir(exist_ok=True)
        (FOUND / f"{self.target}-{len(list(FOUND.iterdir()))}.py").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-s", "--seconds", type=float, default=60, help="how long, a target")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reference", help="a Python that has torch: compare answers with it")
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []])
    options = parser.parse_args()
    options.targets = options.targets or TARGETS
    if options.reference:
        from beside import compare

        return compare(options)
    failed = Counter()
    for target in options.targets:
        search = Search(target, options)
        search.run(options.seconds)
        failed[target] = len(search.faults)
        told = f"{search.programs} programs, {search.slow} too slow, {len(search.faults)} kinds of fault"
        print(f"{target}: {told}", flush=True)
    return 1 if failed.total() else 0


if __name__ == "__main__":
    sys.exit(main())
