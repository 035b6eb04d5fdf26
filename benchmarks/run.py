"""Measure rushlight, beside torch if a Python that has it is given, and write docs/benchmarks.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import footprint
from cases import ANOMALY, GROUPS, MAPPED, PARALLEL, Group
from measure import Library, ratio, timings
from report import INTRODUCTION, at_least, at_most, duration, machine, megabytes, shown, table, times

OUTPUT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"


def group_table(group: Group, subject: Library, reference: Library | None, rounds: int) -> str:
    libraries = [library for library in (subject, reference) if library is not None]
    rows = []
    for case in group.cases:
        results = timings([(case, library, 1) for library in libraries], rounds)
        row = [case.title]
        for timing in results:
            row += [shown(timing.raw, duration), shown(timing.net, duration)]
        if reference is not None:
            faster = ratio(results[1], results[0])
            row += [shown(faster, times), at_least(faster, case.target)]
        rows.append(row)
        progress(" ".join(row))
    header = ["", *[text for library in libraries for text in (library.name, "net")]]
    return table(header + ["ratio", "target"] * (reference is not None), rows)


def parallel_table(libraries: list[Library], rounds: int) -> str:
    rows = []
    for case in PARALLEL:
        for library in libraries:
            one, two = timings([(case, library, 1), (case, library, 2)], rounds)
            gain = ratio(one, two)
            target = at_least(gain, case.target) if library is libraries[0] else ""
            row = [f"{case.title}, {library.name}", shown(one.raw, duration), shown(two.raw, duration)]
            rows.append([*row, shown(gain, times), target])
            progress(" ".join(rows[-1]))
    return table(["", "1 thread", "2 threads", "gain", "target"], rows)


def mapped_table(libraries: list[Library], rounds: int) -> str:
    rows = []
    for library in libraries:
        one_by_one, at_once = timings([(case, library, 1) for case in MAPPED], rounds)
        gain = ratio(one_by_one, at_once)
        target = at_least(gain, MAPPED[1].target) if library is libraries[0] else ""
        row = [f"{MAPPED[1].title}, {library.name}", shown(one_by_one.raw, duration)]
        rows.append([*row, shown(at_once.raw, duration), shown(gain, times), target])
        progress(" ".join(rows[-1]))
    return table(["", "one by one", "at once", "gain", "target"], rows)


def anomaly_table(libraries: list[Library], rounds: int) -> str:
    rows = []
    for pair in ANOMALY:
        for library in libraries:
            off, on = timings([(case, library, 1) for case in pair], rounds)
            slower = ratio(on, off)
            target = at_most(slower, 1.5, times) if library is libraries[0] else ""
            row = [f"{pair[0].title}, {library.name}", shown(off.raw, duration), shown(on.raw, duration)]
            rows.append([*row, shown(slower, times), target])
            progress(" ".join(rows[-1]))
    return table(["", "off", "on", "times as long", "target"], rows)


def footprint_table(libraries: list[Library], measure_wheel: bool) -> str:
    def row(name: str, values: list, target: float | None, write) -> None:
        cells = [shown(value, write) for value in values]
        rows.append([name, *cells, at_most(values[0], target, write)])
        progress(" ".join(rows[-1]))

    def of_each(measure, *arguments) -> list:
        return [measure(library.python, library.name, *arguments) for library in libraries]

    def node_bytes(value: float) -> str:
        return f"{value:.0f} B"

    def yes_or_no(value: float) -> str:
        return "yes" if value else "no"

    rows: list[list[str]] = []
    row("import, beyond a bare interpreter", of_each(footprint.import_seconds, 9), 0.040, duration)
    row("import brings in numpy", of_each(footprint.imports_numpy), None, yes_or_no)
    row("a node, per operation: `x * 1.0001`", of_each(footprint.scalar_chain), 160, node_bytes)
    row("the same with dropped tensors: `(x * w).exp()`", of_each(footprint.saving_chain), 220, node_bytes)
    for name, case in footprint.GROWING.items():
        row(name, of_each(footprint.growth, *case), 5e6, megabytes)
    if measure_wheel:
        place = footprint.place_seconds(libraries[0].python)
        row("where a node is recorded: a look", [place, *[None] * (len(libraries) - 1)], 50e-9, duration)
        packed, unpacked = footprint.wheel_sizes()
        others = [footprint.installed_size(library.python, library.name) for library in libraries[1:]]
        row("wheel", [packed, *[None] * len(others)], 16e6, megabytes)
        row("installed", [unpacked, *others], None, megabytes)
    return table(["", *[library.name for library in libraries], "target"], rows)


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", metavar="PYTHON", help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument(
        "--group", metavar="WORD", help="print the groups of cases with this in their title, no more"
    )
    parser.add_argument(
        "--subject", nargs=2, metavar=("PYTHON", "LIBRARY"), default=(sys.executable, "rushlight")
    )
    return parser.parse_args()


def main() -> None:
    options = arguments()
    parts = [INTRODUCTION]
    where = machine()
    subject = Library(*options.subject)
    reference = Library(options.reference, "torch") if options.reference else None
    libraries = [library for library in (subject, reference) if library is not None]
    if options.group:
        for group in (group for group in GROUPS if options.group in group.title):
            print(group_table(group, subject, reference, options.rounds))
        for library in libraries:
            library.close()
        return
    versions = "; ".join(f"{one.name} {one.version} on Python {one.python_version}" for one in libraries)
    parts.append(f"Machine: {where}.\n\nVersions: {versions}.\n")
    for group in GROUPS:
        parts += [f"## {group.title}\n", group_table(group, subject, reference, options.rounds)]
    parts += ["## Branches in parallel\n", parallel_table(libraries, options.rounds)]
    parts += ["## Functions mapped over samples\n", mapped_table(libraries, options.rounds)]
    parts += ["## Anomaly mode\n", anomaly_table(libraries, options.rounds)]
    for library in libraries:
        library.close()
    parts += ["## Footprint\n", footprint_table(libraries, subject.name == "rushlight")]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("\n".join(parts), "utf-8")
    progress(f"written: {options.output}")


if __name__ == "__main__":
    main()
