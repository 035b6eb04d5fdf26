"""How soon Ctrl-C ends what takes long: a table of times from the signal to `KeyboardInterrupt`.

    python benchmarks/interrupt_latency.py [--torch PY] [--threads 2] [--late 100] [--all] [part ...]

The cases are those of `interrupt_cases.py`, and every function of the registry that takes one, two or three
tensors, or a tensor and a dimension. Each is made larger until it takes half a second, or memory ends, in a
process of its own, and is then sent a signal when a tenth, four tenths and seven tenths of its time have gone
by. Printed are the worst of these three, with `--all` for every case, else for those that are late. Where
there is a gradient it has to be what it was, or all of the new one: a signal may come when `backward` is
about to return.
"""

import argparse
import inspect
import json
import os
import statistics
import subprocess
import sys
import warnings
from pathlib import Path

import rushlight as torch
from interrupt_cases import CASES

PROBE = Path(__file__).with_name("interrupt_probe.py")
# Data and arguments by which functions are called of which nothing else is known, the first that do for each.
WAYS = (
    ("x = torch.rand(n)", "x"),
    ("x = torch.rand(n)", "x, x"),
    ("x = torch.rand(int(n**0.5), int(n**0.5))", "x, 0"),
    ("x = torch.rand(int(n**0.5), int(n**0.5))", "x"),
    ("x = torch.rand(int(n**0.5), int(n**0.5))", "x, x"),
    ("x = torch.rand(n)", "x, x, x"),
    ("x = torch.randint(0, 9, (n,))", "x"),
    ("x = torch.randint(0, 9, (n,))", "x, x"),
    ("x = torch.randint(0, 9, (n,))", "x, 2"),
    ("x = torch.rand(1, 1, n)", "x, 3"),
    ("x = torch.rand(1, 1, int(n**0.5), int(n**0.5))", "x, 3"),
    ("x = torch.rand(1, 1, int(n**0.34), int(n**0.34), int(n**0.34))", "x, 3"),
    ("", "n"),
)
# They take another thing for their number than a size, wait for somebody, or change the process.
APART = {
    "set_num_threads",
    "set_num_interop_threads",
    "set_default_device",
    "set_anomaly_enabled",
    "manual_seed",
    "lobpcg",
}


def registry():
    """What is called without more: name, data and work of a function."""
    spaces = {"torch": torch, "F": torch.nn.functional}
    spaces |= {f"torch.{name}": getattr(torch, name) for name in ("linalg", "fft", "special")}
    for space, module in spaces.items():
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if name in APART or name.startswith("_") or not callable(function) or inspect.isclass(function):
                continue
            for setup, arguments in WAYS:
                if answers(work := f"{space}.{name}({arguments})", setup):
                    yield f"{space}.{name}", (setup, work)
                    break


def answers(work, setup):
    """Whether a call of few elements comes to a tensor, or to several."""
    scope = {"torch": torch, "F": torch.nn.functional, "n": 64}
    try:
        exec(setup, scope)
        found = eval(work, scope)
    except Exception:
        return False
    several = isinstance(found, (tuple, list)) and found and isinstance(found[0], torch.Tensor)
    return several or isinstance(found, torch.Tensor)


def measured(case, options):
    """Its size, its seconds, and what became of three signals; or what failed."""
    setup, work = case
    request = {"setup": setup, "work": work, "threads": options.threads, "long": 0.5, "most": 1 << 28}
    request["megabytes"] = options.megabytes
    python, library = (options.torch, "torch") if options.torch else (sys.executable, "rushlight")
    command = [python, str(PROBE), library, json.dumps(request)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    except subprocess.TimeoutExpired:
        return "does not end"
    if run.returncode != 0:
        return (run.stderr.strip().splitlines() or [f"ended with {run.returncode}"])[-1]
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch", help="a Python that has torch, which is measured instead")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--late", type=float, default=100.0, help="milliseconds from which it is late")
    parser.add_argument("--megabytes", type=int, default=4000, help="of addresses that a process may have")
    parser.add_argument("--all", action="store_true", help="print every case that takes long")
    parser.add_argument("cases", nargs="*", help="parts of names of cases")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = CASES | dict(registry())
    wanted = [name for name in cases if not options.cases or any(part in name for part in options.cases)]
    print("| case | seconds | milliseconds until it is heard | |\n|---|---:|---:|---|")
    worst, short, failed = [], 0, 0
    for name in wanted:
        found = measured(cases[name], options)
        if isinstance(found, str):
            failed += 1
            print(f"| {name} | | | {found} |", flush=True)
            continue
        _, seconds, tries = found
        if not tries:
            short += 1
            continue
        late = 1000 * max(late for late, _, _ in tries)
        worst.append(late)
        deaf = sum(not heard for _, heard, _ in tries)
        remarks = [f"{deaf} of {len(tries)} not heard"] if deaf else []
        remarks += [] if all(whole for _, _, whole in tries) else ["a gradient in pieces"]
        if options.all or late > options.late or remarks:
            print(f"| {name} | {seconds:.1f} | {late:.0f} | {', '.join(remarks)} |", flush=True)
    print(f"\n{len(worst)} take long, {short} do not, {failed} failed.", end=" ")
    if worst:
        print(f"Median {statistics.median(worst):.0f} ms, {sum(late > options.late for late in worst)} late.")


if __name__ == "__main__":
    main()
