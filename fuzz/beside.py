"""The same programs with the reference library: what they answer, and how answers differ.

    python fuzz/run.py --reference PY [-s SECONDS] calls programs

Differences are counted by kind; the first few of each are shown, and all go to `fuzz/found/`.
"""

import importlib
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Random numbers, and what is as the machine or the library is.
OWN = tuple(
    "rand dropout multinomial bernoulli normal poisson exponential_ uniform_ geometric_ cauchy_ gumbel empty version "
    "__config__ seed initial_seed storage hash id( resize new( kaiming xavier trunc_normal orthogonal nn.Linear nn.Conv "
    "nn.LSTM nn.GRU nn.RNN Bilinear Embedding Transformer Multihead EmbeddingBag _cell Cell svd eig qr householder".split()
)
TOLERANCE = {"float64": 1e-6, "complex128": 1e-6, "float32": 2e-3, "complex64": 2e-3}


def answer(result, failure):
    """What there is to compare of a program's outcome."""
    if failure is not None:
        if type(failure).__name__ == "TooLong":
            return ["slow"]
        text = str(failure).partition("\nException raised from")[0]
        return ["error", type(failure).__name__, text.replace("rushlight", "torch")]
    try:
        return ["value", told(result, 3)]
    except Exception as error:  # What cannot be looked at is told as such: the program itself has passed.
        return ["value", f"shown by {type(error).__name__}"]


def told(value, depth):
    if hasattr(value, "grad_fn") and hasattr(value, "stride"):
        if value.numel() > 4096:
            return ["tensor", str(value.dtype), list(value.shape)]
        node = None if value.grad_fn is None else type(value.grad_fn).__name__
        numbers = [number(it) for it in value.detach().flatten().tolist()]
        kind = str(value.dtype).rpartition(".")[2]
        return ["tensor", kind, list(value.shape), list(value.stride()), node, value.requires_grad, numbers]
    if isinstance(value, (list, tuple)) and depth:
        return [told(it, depth - 1) for it in value[:50]]
    if isinstance(value, (bool, int, str)) or value is None:
        return value if not isinstance(value, int) or abs(value) < 1 << 63 else str(value)
    if isinstance(value, (float, complex)):
        return number(value)
    return type(value).__name__


def number(value):
    if isinstance(value, complex):
        return [number(value.real), number(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def close(a, b, tolerance):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(close(p, q, tolerance) for p, q in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
    return a == b


def difference(ours, theirs):
    """The kind of difference between two answers, or nothing."""
    if ours == theirs:
        return None
    if "slow" in (ours[0], theirs[0]):
        return None if ours[0] == theirs[0] else f"{'ours' if ours[0] == 'slow' else 'theirs'} is slow"
    if ours[0] != theirs[0]:
        return "refused here" if ours[0] == "error" else "refused there"
    if ours[0] == "error":
        return "class of error" if ours[1] != theirs[1] else "words of error"
    return of_values(ours[1], theirs[1])


def of_values(a, b):
    if isinstance(a, list) and isinstance(b, list) and a[:1] == b[:1] == ["tensor"] and len(a) == len(b) == 7:
        for place, kind in enumerate(("", "dtype", "shape", "strides", "node", "requires_grad")):
            if a[place] != b[place]:
                return kind
        return None if close(a[6], b[6], TOLERANCE.get(a[1], 2e-2)) else "numbers"
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next((kind for kind in map(of_values, a, b) if kind), None)
    return None if close(a, b, 1e-5) else "value"


def answers(python, path, count, environment):
    """What the programs of a file come to, by number; those that end the process have no answer."""
    with tempfile.NamedTemporaryFile() as notes:
        notes.truncate(1 << 16)
        command = [python, HERE / "worker.py", path, 0, 0, count, 1, notes.name, "--answers"]
        run = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, env=environment)
    lines = (json.loads(line) for line in run.stdout.splitlines() if line.endswith("]"))
    found = {number: rest[0] for number, *rest in lines if number != "end"}
    if not found:
        raise SystemExit(f"{python} has answered nothing")
    return {number: found.get(number, ["dead"]) for number in range(count)}


def compare(options, turn=1000):
    """Programs of each target, here and there, until the time is over."""
    there = {**os.environ, "RUSHLIGHT_PARITY": "1"}
    for target in options.targets:
        program = importlib.import_module(f"targets.{target}").program
        counts, kinds, first, end = Counter(), defaultdict(list), 0, time.monotonic() + options.seconds
        while time.monotonic() < end:
            dice = (
                random.Random(f"{target}/{options.seed}/{number}") for number in range(first, first + turn)
            )
            made = list(map(program, dice))
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump(made, file)
                file.flush()
                ours = answers(sys.executable, file.name, turn, None)
                theirs = answers(options.reference, file.name, turn, there)
            for number, source in enumerate(made):
                here, reference = ours[number], theirs[number]
                if any(word in source for word in OWN):
                    counts["left out"] += 1
                elif reference == ["dead"]:
                    counts["no answer there"] += 1
                else:
                    kind = "ended the process" if here == ["dead"] else difference(here, reference)
                    counts[kind or "the same"] += 1
                    if kind:
                        kinds[kind].append((first + number, source, here, reference))
            first += turn
        report(target, counts, kinds)


def report(target, counts, kinds):
    (HERE / "found").mkdir(exist_ok=True)
    print(f"{target}: {sum(counts.values())} programs")
    for kind, count in counts.most_common():
        print(f"  {count:8} {kind}")
    with open(HERE / "found" / f"beside-{target}.txt", "w") as file:
        for kind, rows in kinds.items():
            for number, source, here, reference in rows:
                here, reference = (json.dumps(it)[:300] for it in (here, reference))
                print(f"## {kind} ({number})\n{source}\n  ours   {here}\n  theirs {reference}", file=file)
