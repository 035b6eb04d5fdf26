"""A long life: many small steps in which hooks and functions fail, threads come and go and processes die.

    python benchmarks/long_life.py [--steps 1000000] [--most 1.0]

Prints the resident memory as time goes by; fails if it grew by more than so many per cent after the first
tenth, and if a gradient is not what it has to be. `python -X dev -W error`, with PYTHONMALLOC=debug, has to
exit clean as well.
"""

import argparse
import os
import signal
import statistics
import sys
import threading
from pathlib import Path

import rushlight as torch

# Steps between two looks at the memory, a process that dies, a thread, a failure of each kind.
LOOK, DEATH, THREAD, FAILURE = 10_000, 1000, 500, 50


class Planned(Exception):
    """What hooks and functions raise on purpose."""


class Failing(torch.autograd.Function):
    """The identity, whose backward fails."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise Planned


def fail(_):
    raise Planned


def expect_failure(loss):
    """Backward fails as it is told to, and leaves no part of a gradient behind."""
    try:
        loss.backward()
    except Planned:
        return
    raise SystemExit("a planned failure did not come out")


class Life:
    """A small model that is trained for ever on the same example."""

    def __init__(self):
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)
        self.x = torch.ones(3, 4)

    def step(self, number):
        self.optimizer.zero_grad()
        loss = (self.model(self.x) - 1).square().mean()
        if number % FAILURE == 0:
            hidden = self.model[0](self.x)
            hidden.register_hook(fail)
            expect_failure(hidden.sum())
            expect_failure(Failing.apply(self.model[0](self.x)).sum())
            if any(p.grad is not None for p in self.model.parameters()):
                raise SystemExit("a backward that failed has left gradients")
        loss.backward()
        self.optimizer.step()
        if number % THREAD == 0:
            thread = threading.Thread(target=apart)
            thread.start()
            thread.join()
        if number % DEATH == DEATH - 1:
            die()


def apart():
    """What a thread does in its life: a graph of its own, larger than one thread would share."""
    x = torch.ones(300, 300, requires_grad=True)
    (x @ x).sin().sum().backward()
    if not torch.isfinite(x.grad).all():
        raise SystemExit("a thread has lost its gradient")


def die():
    """A process is made, works, and is killed."""
    child = os.fork()
    if child == 0:
        apart()
        os.kill(os.getpid(), signal.SIGKILL)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != -signal.SIGKILL:
        raise SystemExit("a process has not ended as it was told to")


def resident():
    """The bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--most", type=float, default=1.0, help="how many per cent the memory may grow")
    options = parser.parse_args()
    life, seen = Life(), []
    for number in range(options.steps):
        life.step(number)
        if (number + 1) % max(1, min(LOOK, options.steps // 20)) == 0:
            seen.append(resident())
            if len(seen) % 10 == 0:
                print(f"{number + 1:>9} steps {seen[-1] / 1e6:8.1f} MB", flush=True)
    # The allocator takes and gives back pages all the time, so one look says little: medians are compared.
    tenth = max(1, len(seen) // 10)
    growth = 100 * (statistics.median(seen[-tenth:]) / statistics.median(seen[tenth : 2 * tenth]) - 1)
    least, most = min(seen) / 1e6, max(seen) / 1e6
    print(f"grew by {growth:.2f} % after the first tenth; between {least:.1f} and {most:.1f} MB")
    return int(growth > options.most)


if __name__ == "__main__":
    sys.exit(main())
