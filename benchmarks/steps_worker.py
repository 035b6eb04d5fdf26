"""A process that times steps in one way: `steps_worker.py WAY`.

Ways: `rushlight` and `torch` as the steps are written, both `compiled`, `rushlight many` and `jax many` with
several steps a call, and `jax`. Reads the name of a step a line, and answers with the least seconds of a step
in a round."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

import steps

SECONDS = 0.02
"""How long a round of one step is."""


def with_torch(library: str, how: str) -> Callable[[str], tuple[steps.Step, int]]:
    torch = importlib.import_module(library)
    torch.set_num_threads(1)

    def made(name: str) -> tuple[steps.Step, int]:
        torch.manual_seed(0)
        step = steps.made(steps, name, torch)
        if how == "":
            return step, 1
        compiled = torch.compile(step)
        if how == "compiled":
            return compiled, 1
        return lambda: torch.compiler.repeat(compiled, steps.MANY), steps.MANY

    return made


def with_jax(how: str) -> Callable[[str], tuple[steps.Step, int]]:
    import jax
    import steps_jax

    def made(name: str) -> tuple[steps.Step, int]:
        jax.config.update("jax_enable_x64", name in steps_jax.DOUBLE)
        state, step = steps.made(steps_jax, name)
        count = steps.MANY if how else 1

        def turns(state: Any) -> Any:
            return jax.lax.fori_loop(0, count, lambda _, state: step(state), state)

        function = jax.jit(turns if how else step, donate_argnums=0)
        kept = [jax.tree.map(lambda x: x.copy(), state)]

        def run() -> object:
            kept[0] = jax.block_until_ready(function(kept[0]))
            return kept[0]

        return run, count

    return made


def main() -> None:
    library, _, how = sys.argv[1].partition(" ")
    make = with_jax(how) if library == "jax" else with_torch(library, how)
    ready: dict[str, tuple[steps.Step, int]] = {}
    for line in sys.stdin:
        name = line.strip()
        try:
            if name not in ready:
                ready[name] = make(name)
                for _ in range(6):
                    ready[name][0]()
            step, count = ready[name]
            least, end = float("inf"), time.perf_counter() + SECONDS
            while (start := time.perf_counter()) < end:
                step()
                least = min(least, time.perf_counter() - start)
            print(least / count, flush=True)
        except Exception as error:  # a library may not have what a step needs; the table says so
            print(f"{type(error).__name__}: {error}".splitlines()[0], file=sys.stderr)
            print("nan", flush=True)


if __name__ == "__main__":
    main()
