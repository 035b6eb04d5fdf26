"""Every allocation of some size fails in turn, in calls that are known: each has to be an error, and nothing lost.

    python fuzz/little_memory.py [-s SECONDS] [--seed N] [--least 16384]

A call with its backward runs as often as it allocates, in a process of its own; the next time another allocation
fails (`tests/ops/memory/failing_malloc.c`). A fault is a process that ends, another class of error, a `.grad` that is neither
what it was nor whole, and memory that is left.
"""

import argparse
import ast
import contextlib
import ctypes
import gc
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import values

# The names of `values`, of sizes that are worth an allocation.
LARGE = {
    "x": "torch.linspace(0.1, 0.9, 9600).double().reshape(80, 120).requires_grad_()",
    "y": "(torch.linspace(0.1, 0.9, 9600).double().reshape(80, 120) + 1).requires_grad_()",
    "z": "torch.complex(torch.ones(3000), torch.linspace(0.1, 0.9, 3000)).requires_grad_()",
    "square": "(torch.eye(64).double() + 0.25).requires_grad_()",
    "vector": "torch.linspace(0.1, 0.9, 120).double().requires_grad_()",
    "batch": "torch.linspace(0.1, 0.9, 19200).double().reshape(2, 80, 120).requires_grad_()",
    "image": "torch.linspace(0.1, 0.9, 8192).double().reshape(1, 2, 64, 64).requires_grad_()",
    "index": "torch.arange(80)",
    "places": "torch.arange(80).reshape(80, 1).repeat(1, 30)",
    "mask": "torch.tensor([[True, False, True, True] * 30] * 80)",
}
# Failures of one call at most, and the seconds that it may take.
MOST, PATIENCE = 60, 60
READY = "RUSHLIGHT_FAILING_MALLOC"


def prepared():
    """Run this script with the allocator in front of the C library's."""
    if READY in os.environ:
        return
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit("needs a C compiler")
    folder = tempfile.mkdtemp(prefix="failing-")
    library = f"{folder}/failing.so"
    source = HERE.parent / "tests/ops/memory/failing_malloc.c"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    # What is kept for its next use is not asked for.
    given = {READY: library, "LD_PRELOAD": library, "RUSHLIGHT_CACHE_MB": "0"}
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **given})


def calls(seed):
    """Recorded calls, and one of every signature, in an order of their own."""
    import corpus

    dice = random.Random(seed)
    found = {ast.unparse(ast.Module(statements, [])) for statements in corpus.recorded()}
    for name, positional, required, _ in corpus.signatures():
        given = [corpus.fitting(dice, kind) for _, kind in positional[:required]]
        method = ast.Attribute(corpus.fitting(dice, "Tensor"), name[1:], ast.Load())
        function = method if name.startswith(".") else ast.parse(name, mode="eval").body
        found.add(ast.unparse(ast.Call(function, given, [])))
    found = sorted(found)
    dice.shuffle(found)
    return found


class Call:
    """A program whose last expression is its result."""

    def __init__(self, source, torch):
        tree = ast.parse(source)
        if isinstance(tree.body[-1], ast.Expr):
            tree.body[-1] = ast.Assign([ast.Name("result", ast.Store())], tree.body[-1].value)
        self.torch = torch
        self.before = compile(values.used(source), "<names>", "exec")
        self.code = compile(ast.fix_missing_locations(tree), "<call>", "exec")

    def run(self, allocator, number, least):
        """How many allocations there were, what was raised, and whether gradients are neither old nor whole."""
        self.torch.manual_seed(0)
        names = {"torch": self.torch, "result": None}
        exec(self.before, names)
        leaves = [it for it in names.values() if isinstance(it, self.torch.Tensor) and it.requires_grad]
        for leaf in leaves:
            leaf.grad = self.torch.full_like(leaf, 7.0)
        failure = None
        allocator.fail_allocation(number, least)
        try:
            exec(self.code, names)
            self.backward(names["result"])
        except BaseException as raised:
            failure = raised
        met = allocator.allocations_met()
        torn = failure is not None and any(not leaf.grad.eq(7).all() for leaf in leaves)
        return met, failure, torn

    def backward(self, result):
        for it in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(it, self.torch.Tensor) and it.requires_grad and it.numel():
                (it.real if it.is_complex() else it).sum().backward()
                return


def tried(source, torch, allocator, least, tell):
    """Run a call with each of its allocations failing, and tell what is wrong with it."""
    from rushlight import _rushlight as native

    call = Call(source, torch)
    call.run(allocator, 0, least)
    met, failure, _ = call.run(allocator, 0, least)
    if failure is not None:
        return
    gc.collect()
    before = native._allocated_bytes()
    for number in range(1, min(met, MOST) + 1):
        tell("at", number)
        _, failure, torn = call.run(allocator, number, least)
        if failure is not None and not isinstance(failure, (RuntimeError, MemoryError)):
            tell("class", repr(failure)[:200])
        elif failure is not None and "memory" not in str(failure) and not isinstance(failure, MemoryError):
            tell("words", repr(failure)[:200])
        if torn:
            tell("gradients", number)
        del failure
    gc.collect()
    if native._allocated_bytes() - before >= least:
        tell("left", native._allocated_bytes() - before)


def apart(source, torch, allocator, least):
    """What a call told in a process of its own, and how that ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 1))
        told = os.fdopen(writing, "w", buffering=1)
        with contextlib.suppress(BaseException):
            tried(source, torch, allocator, least, lambda *row: print(json.dumps(row), file=told))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        rows = [json.loads(line) for line in file]
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return rows, 0 if ended == -signal.SIGXCPU else ended


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-s", "--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=int, default=1 << 14, help="bytes of an allocation that may fail")
    options = parser.parse_args()
    prepared()
    import rushlight as torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    values.NAMES.update(LARGE)
    allocator = ctypes.CDLL(None)
    allocator.fail_allocation.argtypes = [ctypes.c_long, ctypes.c_size_t]
    allocator.allocations_met.restype = ctypes.c_long
    end, count, failures, faults = time.monotonic() + options.seconds, 0, 0, 0
    for source in calls(options.seed):
        if time.monotonic() > end:
            break
        rows, ended = apart(source, torch, allocator, options.least)
        found = [row for row in rows if row[0] != "at"]
        if ended:
            found.append(["ended", ended, rows[-1:]])
        count, failures = count + bool(rows), failures + sum(row[0] == "at" for row in rows)
        faults += bool(found)
        if found:
            print(f"{source}\n    {found[:3]}", flush=True)
    print(f"{count} calls, {failures} failures, {faults} faults", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
