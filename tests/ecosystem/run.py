"""Libraries that stand on torch stand on rushlight: what each finds is what it finds with torch.

`make ecosystem` installs them and runs this, which writes `docs/ecosystem.md`; `make test` does not. The numbers in
`recorded.json` are torch's: `PY tests/ecosystem/run.py --record` writes them, in a Python that has torch and the
libraries. Names of workloads can follow, and only those run.
"""

import json
import os
import pathlib
import subprocess
import sys

from calling import WORKLOADS
from comparing import compare

HERE = pathlib.Path(__file__).parent
NAMES = sorted(WORKLOADS)
RECORDED = HERE / "recorded.json"
TABLE = HERE.parent.parent / "docs" / "ecosystem.md"
# Sums in another order are other numbers: some steps of training later, this much.
TOLERANCE = 2e-3
HEAD = """\
# Libraries on rushlight

{passed} of {count} workloads find what they find with torch, each in a process in which `import torch` is rushlight.
`make ecosystem` installs the libraries as `tests/ecosystem/requirements.txt` pins them, runs the workloads in
`tests/ecosystem/workloads/`, and writes this table. *Distance* is the greatest of all numbers that a workload returns,
for their size; up to {tolerance:g} counts as the same, for sums are in another order.

| workload | what it does | result | distance |
|---|---|---|---|
"""


def run(name):
    """Run a workload in a process of its own, and return what it found."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, HERE / "calling.py", name],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if ran.returncode:
        raise RuntimeError("".join(ran.stderr.splitlines(keepends=True)[-12:]) or f"status {ran.returncode}")
    return json.loads(ran.stdout.splitlines()[-1])["found"]


def described(name):
    """Return what the first line of a workload says it does."""
    return WORKLOADS[name].read_text("utf-8").split('"""')[1].strip().splitlines()[0]


def outcome(name, recorded):
    """Return how a workload went, the greatest distance, and all that is known of a failure."""
    try:
        found = run(name)
    except (RuntimeError, subprocess.TimeoutExpired) as failure:
        last = str(failure).strip().splitlines()[-1]
        return f"fails: {last[:110].replace('|', '/')}", "", str(failure)
    distance, place = compare(recorded[name], found)
    shown = f"{distance:.0e}" if distance else "0"
    if distance <= TOLERANCE:
        return "the same", shown, ""
    return "other numbers", shown, f"{place} is {distance:.2g} apart"


def check(names):
    """Run workloads, write the table if these are all, and tell whether each was the same."""
    recorded = json.loads(RECORDED.read_text("utf-8"))
    rows, failed = [], 0
    for name in names:
        state, distance, why = outcome(name, recorded)
        failed += bool(why)
        print(f"{name}: {state} {distance}", *why.splitlines(), sep="\n    ", flush=True)
        rows.append(f"| `{name}` | {described(name)} | {state} | {distance} |\n")
    passed = len(names) - failed
    print(f"{passed} passed, {failed} failed")
    if names == NAMES:
        head = HEAD.format(passed=passed, count=len(names), tolerance=TOLERANCE)
        TABLE.write_text(head + "".join(rows), "utf-8")
    return failed == 0


def record(names):
    """Write down what torch finds."""
    recorded = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}
    for name in names:
        print(name, flush=True)
        recorded[name] = run(name)
    kept = {name: recorded[name] for name in NAMES if name in recorded}
    lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(found)}" for name, found in kept.items())
    RECORDED.write_text(f"{{\n{lines}\n}}\n", "utf-8")


def main(arguments):
    names = [name for name in arguments if not name.startswith("-")] or NAMES
    if "--record" in arguments:
        record(names)
        return 0
    return 0 if check(names) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
