"""One process that measures how late a signal is heard in one program: `interrupt_probe.py LIBRARY REQUEST`.

The request is JSON: {"setup": ..., "work": ..., "threads": ..., "long": ..., "most": ..., "megabytes": ...}.
Answers with [size, seconds, [[seconds late, heard, gradient whole], ...]].
"""

import gc
import importlib
import json
import resource
import signal
import sys
import time
from contextlib import suppress

# When signals are sent, in parts of the time that the program takes.
MOMENTS = (0.1, 0.4, 0.7)


class Program:
    """A program of any size."""

    def __init__(self, torch, setup, work):
        self.torch, self.setup, self.work = torch, setup, work
        self.gradient = None

    def chain(self, x, length):
        """So many nodes, one after the other."""
        for _ in range(length):
            x = x * 1.0
        return x

    def prepared(self, size):
        """What works on data of this size, and the tensor whose gradient it makes, if it makes one."""
        torch = self.torch
        torch.manual_seed(0)
        space = {"torch": torch, "F": torch.nn.functional, "chain": self.chain, "n": size}
        exec(self.setup, space)
        x = space.get("x")
        leaf = x if isinstance(x, torch.Tensor) and x.is_leaf and x.requires_grad else None
        if leaf is not None:
            leaf.grad = torch.full_like(leaf, 7.0)
        return eval(f"lambda: {self.work}", space), leaf

    def seconds(self, size):
        """How long it takes. What it answers is freed after that."""
        run, leaf = self.prepared(size)
        start = time.perf_counter()
        answer = run()
        took = time.perf_counter() - start
        del answer
        self.gradient = None if leaf is None else leaf.grad
        return took

    def late(self, size, after):
        """How late a signal is heard, in seconds; whether it is; whether the gradient is of one piece."""
        run, leaf = self.prepared(size)
        gc.collect()
        heard, start = True, time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, after)
        with suppress(KeyboardInterrupt):
            run()
            signal.setitimer(signal.ITIMER_REAL, 0)
            heard = False
        end = time.perf_counter()
        return end - start - after, heard, leaf is None or self.is_whole(leaf.grad)

    def is_whole(self, gradient):
        """Whether a gradient is what it was, or what it is to become."""
        if gradient is None:
            return self.gradient is None
        is_new = self.gradient is not None and self.torch.equal(gradient, self.gradient)
        return is_new or bool(gradient.eq(7.0).all())


def measured(program, long, most):
    """The program at a size where it takes so long, or at the largest that there is room for."""
    size, took = 1 << 10, 0.0
    try:
        while took < long and size < most:
            size *= 8 if took < long / 20 else 2
            took = program.seconds(size)
    except (MemoryError, RuntimeError) as failure:
        if not isinstance(failure, MemoryError) and "memory" not in str(failure):
            raise
        size //= 4
        took = program.seconds(size)
    if took < long / 4:
        return size, took, []
    # The first run has memory made for it that others find.
    took = min(took, program.seconds(size))
    return size, took, [program.late(size, took * moment) for moment in MOMENTS]


def main():
    torch = importlib.import_module(sys.argv[1])
    asked = json.loads(sys.argv[2])
    torch.set_num_threads(asked["threads"])
    limit = asked["megabytes"] << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    # A timer sends the signal, not a thread, which might have to wait for the work.
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    program = Program(torch, asked["setup"], asked["work"])
    print(json.dumps(measured(program, asked["long"], asked["most"])))


if __name__ == "__main__":
    main()
