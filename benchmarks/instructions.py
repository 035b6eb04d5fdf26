"""Count the instructions of hot paths: `instructions.py` shows them, `--check` fails where one has grown,
`--write` keeps them in instructions.json.

Times of what takes 200 ns say little on a machine that others share; how many instructions the compiled
module runs in a call says it to the instruction. A child runs a case step by step (ptrace), and what is
counted are steps within the module: Python's own belong to its version. The numbers are those of one
compiler, which stands beside them.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

from cases import GRAPHS, NETWORKS, ONE_OPERATION, Case
from worker import Worker

KEPT = Path(__file__).with_suffix(".json")
MOST_GROWTH = 0.03
CALLS = 5

HOT = [
    *(
        case
        for case in ONE_OPERATION.cases
        if case.code not in ("x.shape", "x.detach()", "x.t()", "s.item()")
    ),
    GRAPHS.cases[0],
    *NETWORKS.cases[:2],
]

TRACE_ME, PEEK_USER, CONTINUE, SINGLE_STEP = 0, 3, 7, 9
INSTRUCTION_POINTER = 16 * 8
"""Where rip lies in the registers of a process that is traced, on x86_64."""

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class NotCounted(Exception):
    """Nothing can be counted here, and why."""


def counted(case: Case, calls: int = CALLS) -> int:
    """The least instructions of the module that one of some calls takes."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise NotCounted("steps are followed on Linux and x86_64 only")
    child = subprocess.Popen([sys.executable, __file__, "--follow", case.setup, case.code])
    try:
        stopped(child.pid)
        start, end = module_of(child.pid)
        return min(steps(child.pid, start, end) for _ in range(calls))
    finally:
        child.kill()
        child.wait()


def follow(case: Case) -> None:
    """In the child: stops before and after each call, until it is killed."""
    worker = Worker("rushlight")
    worker.library.set_num_threads(1)
    run = worker.prepared(case)
    for _ in range(50):
        run()
    if libc.ptrace(TRACE_ME, 0, None, None) != 0:
        return
    while True:
        os.kill(os.getpid(), signal.SIGSTOP)
        run()
        os.kill(os.getpid(), signal.SIGSTOP)


def stopped(child: int) -> None:
    """Waits until the child has stopped by itself."""
    _, status = os.waitpid(child, 0)
    if not os.WIFSTOPPED(status):
        raise NotCounted("the system does not let a process be traced, or the case failed")


def module_of(child: int) -> tuple[int, int]:
    """Between which addresses the compiled module lies."""
    lines = Path(f"/proc/{child}/maps").read_text().splitlines()
    parts = [line.split()[0].split("-") for line in lines if "/_rushlight." in line]
    return int(parts[0][0], 16), int(parts[-1][1], 16)


def steps(child: int, start: int, end: int) -> int:
    """Goes on to the child's next stop, and counts steps within these addresses; then to the next call."""
    step, wait, peek = libc.ptrace, os.waitpid, PEEK_USER
    count = 0
    while True:
        if step(SINGLE_STEP, child, None, None) != 0:
            raise NotCounted("the system does not let a process be followed")
        _, status = wait(child, 0)
        if not os.WIFSTOPPED(status):
            raise NotCounted("the case failed")
        if os.WSTOPSIG(status) == signal.SIGSTOP:
            break
        count += start <= step(peek, child, INSTRUCTION_POINTER, None) < end
    step(CONTINUE, child, None, None)
    stopped(child)
    return count


def surroundings() -> dict[str, str]:
    """What numbers depend on beside the sources."""
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout
    flags = Path("/proc/cpuinfo").read_text().split()
    vectors = next((name for name in ("avx512f", "avx2") if name in flags), "none")
    return {"compiler": compiler.strip(), "python": platform.python_version(), "vectors": vectors}


def grown(before: int, now: int) -> bool:
    return now > before * (1 + MOST_GROWTH)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--follow", nargs=2, metavar=("SETUP", "CODE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.follow:
        setup, code = options.follow
        follow(Case(code, setup))
        return
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    before, now, more = kept.pop("instructions", {}), {}, []
    for case in HOT:
        try:
            now[case.title] = counted(case)
        except NotCounted as reason:
            print(f"not counted: {reason}")
            return
        known = before.get(case.title)
        change = "" if known is None else f"{now[case.title] / known - 1:+.1%}"
        print(f"{now[case.title]:8,} {change:>8}  {case.title}", flush=True)
        if known is not None and grown(known, now[case.title]):
            more.append(case.title)
    here = surroundings()
    if options.write:
        text = json.dumps({**here, "instructions": now}, indent=2, ensure_ascii=False)
        KEPT.write_text(text + "\n", "utf-8")
    elif options.check and kept != here:
        print(f"not checked: the numbers that are kept are of {kept}, these of {here}")
    elif options.check and more:
        sys.exit(f"more than {MOST_GROWTH:.0%} more instructions than before: {', '.join(more)}")


if __name__ == "__main__":
    main()
