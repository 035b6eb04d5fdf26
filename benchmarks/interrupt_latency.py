"""How soon Ctrl-C ends what takes long: a table of times from the signal to `KeyboardInterrupt`.

    python benchmarks/interrupt_latency.py [--torch] [--rounds 10] [--threads 2] [case ...]

Every round is a process of its own that sends itself SIGINT at a random moment of the work. A number
is missing where the work ended before it could be interrupted; the time that it went on is shown then.
For cases with `.grad` it is checked that all of the gradient is what it was, or none: a signal may come when
everything has been written and `backward` is about to return.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys

PRELUDE = """
import os, signal, sys, threading, time
if {torch}:
    import torch
else:
    import rushlight as torch
torch.set_num_threads({threads})

class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g + (x @ x) * 0

x = None
{setup}
if x is not None and x.requires_grad:
    x.grad = torch.full_like(x, 7.0)
sent = []
def send():
    time.sleep({after})
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
sender = threading.Thread(target=send)
sender.start()
interrupted = False
try:
    {work}
    time.sleep(60)
except KeyboardInterrupt as interruption:
    end = time.perf_counter()
    frame = interruption.__traceback__
    while frame.tb_next:
        frame = frame.tb_next
    # In the sleep, the work had ended.
    interrupted = frame.tb_lineno != {sleep_line}
sender.join()
old = None if x is None or x.grad is None else x.grad == 7.0
whole = old is None or bool(old.all()) or not bool(old.any())
print(end - sent[0], interrupted, whole)
"""

CASES = {
    "backward, many small nodes": (
        "x = torch.ones(10, requires_grad=True)\ny = x\nfor _ in range(400_000): y = y * 1.0\ny = y.sum()",
        "y.backward()",
    ),
    "backward, a chain of large nodes": (
        "x = torch.ones(200_000, requires_grad=True)\ny = x\nfor _ in range(1500): y = y.sin()\ny = y.sum()",
        "y.backward()",
    ),
    "backward, one product of matrices": (
        "x = torch.ones(5000, 5000, requires_grad=True)\ny = (x @ torch.ones(5000, 10)).sum() * 0\n"
        "w = torch.ones(5000, 5000)\n"
        "y = torch.nn.functional.linear(x, w[:20]).sum() + (x * 1).mm(w[:, :2500]).sum()",
        "y.backward()",
    ),
    "backward, a product of few rows": (
        "x = torch.ones(64, 9000, requires_grad=True)\nw = torch.ones(9000, 9000)\ny = (x @ w).sum()",
        "y.backward()",
    ),
    "backward, branches side by side": (
        "x = torch.ones(200_000, requires_grad=True)\nparts = []\n"
        "for i in range(8):\n    y = x * i\n    for _ in range(200): y = y.sin()\n"
        "    parts.append(y.sum())\ny = sum(parts)",
        "y.backward()",
    ),
    "backward, functions of one's own": (
        "x = torch.ones(1200, 1200, requires_grad=True)\ny = x\n"
        "for _ in range(40): y = Slow.apply(y)\ny = y.sum()",
        "y.backward()",
    ),
    "backward, recorded": (
        "x = torch.ones(200_000, requires_grad=True)\ny = x\nfor _ in range(600): y = y.sin()\ny = y.sum()",
        "y.backward(create_graph=True)",
    ),
    "forward, one product of matrices": (
        "a = torch.ones(6000, 6000)",
        "a @ a",
    ),
    "forward, a product of few rows": (
        "a, b = torch.ones(200, 12000), torch.ones(12000, 12000)",
        "a @ b",
    ),
    "forward, one long function": (
        "a = torch.ones(60_000_000)",
        "a.tan()",
    ),
}


def measure(case, options):
    """The seconds to the interruption, whether the work was interrupted, whether `.grad` is of one piece."""
    setup, work = CASES[case]
    values = {
        "torch": options.torch,
        "threads": options.threads,
        "setup": setup,
        "work": work,
        "after": random.uniform(0.05, 0.3),
        "sleep_line": 0,
    }
    source = PRELUDE.format(**values)
    values["sleep_line"] = 1 + [line.strip() for line in source.splitlines()].index("time.sleep(60)")
    source = PRELUDE.format(**values)
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(run.stderr)
    late, interrupted, whole = run.stdout.split()[-3:]
    return float(late), interrupted == "True", whole == "True"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch", action="store_true", help="measure torch instead of rushlight")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("cases", nargs="*", default=list(CASES), help="parts of names of cases")
    options = parser.parse_args()
    wanted = [case for case in CASES if any(part in case for part in options.cases)]
    print(f"{'milliseconds':36} {'median':>8} {'worst':>8} {'interrupted':>12} {'.grad whole':>13}")
    for case in wanted:
        rounds = [measure(case, options) for _ in range(options.rounds)]
        late = [1000 * late for late, _, _ in rounds]
        interrupted = sum(interrupted for _, interrupted, _ in rounds)
        whole = sum(whole for _, _, whole in rounds)
        count = len(rounds)
        print(
            f"{case:36} {statistics.median(late):8.0f} {max(late):8.0f} "
            f"{interrupted:>9}/{count:<2} {whole:>10}/{count:<2}",
            flush=True,
        )


if __name__ == "__main__":
    main()
