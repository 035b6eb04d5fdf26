"""Time many small programs beside torch, and write docs/speed.md: all ratios, those where torch wins too."""

from __future__ import annotations

import argparse
import math
import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from cases import Case
from measure import Library
from report import duration, machine, table, times
from survey_cases import SURVEY
from survey_plot import drawn

DOCS = Path(__file__).resolve().parent.parent / "docs"
INTRODUCTION = """\
# Speed

How long {count} small programs take here and in torch: functions of elements, rows, products, factors,
images, optimisers … at sizes from 64 numbers to a few million, forward and both ways. Written by
`make survey PY=/path/to/a/python-with-torch`; the programs are a table in `benchmarks/survey_cases.py`.

Each library runs in a process of its own, and they take turns, program by program. The time of a program is
the least of all rounds; its ratio says how many times as long torch took: above 1, rushlight is faster.

Machine: {machine}. Versions: {versions}.
"""


@dataclass(frozen=True)
class Outcome:
    case: Case
    subject: float
    reference: float

    @property
    def ratio(self) -> float:
        return self.reference / self.subject

    @property
    def size(self) -> str:
        """What torch takes for it says how large a program is."""
        if self.reference < 20e-6:
            return "small"
        return "middle" if self.reference < 500e-6 else "large"


def measured(
    cases: list[Case], threads: int, libraries: tuple[Library, Library], rounds: int
) -> list[Outcome]:
    outcomes = []
    for case in cases:
        taken: tuple[list[float | None], list[float | None]] = ([], [])
        for turn in range(rounds):
            for library, seconds in zip(libraries, taken, strict=True):
                seconds.append(library.seconds(case, threads, turn))
        if None in taken[0] or None in taken[1]:
            print(f"left out: {case.title}", file=sys.stderr)
            continue
        outcome = Outcome(case, *(min(filter(None, seconds)) for seconds in taken))
        outcomes.append(outcome)
        print(f"{outcome.ratio:7.2f}  {case.title}", file=sys.stderr, flush=True)
    return outcomes


def geometric_mean(outcomes: list[Outcome]) -> float:
    return math.exp(statistics.fmean(math.log(outcome.ratio) for outcome in outcomes))


def summary(outcomes: list[Outcome]) -> str:
    groups = {"all": outcomes}
    for size in ("small", "middle", "large"):
        groups[f"{size} ones"] = [outcome for outcome in outcomes if outcome.size == size]
    rows = []
    for name, members in groups.items():
        if members:
            slower = sum(outcome.ratio < 1 for outcome in members)
            half = sum(outcome.ratio < 0.5 for outcome in members)
            rows.append([name, str(len(members)), times(geometric_mean(members)), str(slower), str(half)])
    return table(
        ["programs", "number", "geometric mean", "torch is faster", "in less than half the time"], rows
    )


def by_family(outcomes: list[Outcome]) -> str:
    families: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        families.setdefault(outcome.case.title.split(":")[0], []).append(outcome)
    rows = []
    for name, members in families.items():
        ratios = sorted(outcome.ratio for outcome in members)
        cells = [ratios[0], statistics.median(ratios), ratios[-1], geometric_mean(members)]
        rows.append([name, str(len(members)), *map(times, cells)])
    return table(["family", "number", "least", "middle", "greatest", "geometric mean"], rows)


def wins_of_torch(outcomes: list[Outcome]) -> str:
    slower = sorted((outcome for outcome in outcomes if outcome.ratio < 1), key=lambda outcome: outcome.ratio)
    rows = [
        [one.case.title, duration(one.subject), duration(one.reference), times(one.ratio)] for one in slower
    ]
    return table(["where torch is faster", "rushlight", "torch", "ratio"], rows)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", metavar="PYTHON", required=True, help="a Python that has torch")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--only", metavar="REGEX", help="print what is found of these programs, and write nothing"
    )
    return parser.parse_args()


def main() -> None:
    options = arguments()
    cases = [case for case in SURVEY if not options.only or re.search(options.only, case.title)]
    where = machine()
    libraries = (Library(sys.executable, "rushlight"), Library(options.reference, "torch"))
    versions = ", ".join(f"{one.name} {one.version}" for one in libraries)
    parts = [INTRODUCTION.format(count=len(cases), machine=where, versions=versions)]
    for threads in options.threads:
        outcomes = measured(cases, threads, libraries, options.rounds)
        title = "One thread" if threads == 1 else f"{threads} threads"
        picture = f"speed-{threads}.svg"
        parts += [f"## {title}\n", f"![The ratios of all programs, from greatest to least]({picture})\n"]
        parts += [summary(outcomes), by_family(outcomes), wins_of_torch(outcomes)]
        if not options.only:
            ratios = [(outcome.ratio, outcome.size) for outcome in outcomes]
            DOCS.joinpath(picture).write_text(drawn(ratios, title), "utf-8")
    for library in libraries:
        library.close()
    if options.only:
        print("\n".join(parts[1:]))
    else:
        DOCS.joinpath("speed.md").write_text("\n".join(parts), "utf-8")


if __name__ == "__main__":
    main()
