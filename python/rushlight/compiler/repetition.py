"""Many steps in one call, without Python between them where they have been recorded."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .function import Function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SECONDS = 0.1
"""How often progress is told, at most."""


def repeat(
    step: Callable[..., Any],
    n: int,
    over: Iterable[Any] | None = None,
    until: Callable[[Any], Any] | None = None,
    progress: Callable[[int, Any], Any] | None = None,
) -> Any:
    """Call a step n times and return what it gave last: all that many calls of the compiled step do.

    With `over`, it is called with each of these batches in turn, and from the first one again: a tuple is
    several arguments. It ends before that where `until`, which is called with what each step gives, is true.
    `progress` is called with the number of steps so far, and with what the last of them gave, a few times a
    second and at the end.

    >>> import rushlight as torch
    >>> total = torch.zeros(())
    >>> def step(x):
    ...     return total.add_(x.sum())
    >>> batches = [torch.ones(2), torch.ones(3)]
    >>> torch.compiler.repeat(step, 100, over=batches)
    tensor(250.)
    """
    compiled = step if isinstance(step, Function) else Function(step)
    batches = [()] if over is None else [batch if type(batch) is tuple else (batch,) for batch in over]
    if not batches:
        raise ValueError("there is nothing to go over")
    done, found, told = 0, None, time.perf_counter()
    at_once = 1
    while done < n:
        start = time.perf_counter()
        count, found = compiled.repeat(batches, done, min(at_once, n - done))
        done += count
        if until is not None:
            if until(found):
                break
        elif progress is None:
            at_once = n
        else:
            at_once = max(1, int(count * _SECONDS / max(time.perf_counter() - start, 1e-9)))
        if progress is not None and done < n and time.perf_counter() - told >= _SECONDS:
            progress(done, found)
            told = time.perf_counter()
    if progress is not None:
        progress(done, found)
    return found
