"""Random numbers that tests draw again, and that others do not notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..random import get_rng_state, manual_seed, set_rng_state
from ..utils._mode_utils import no_dispatch

__all__ = ["freeze_rng_state", "wrapper_set_seed"]


@contextmanager
def freeze_rng_state() -> Iterator[None]:
    """Leave random numbers as they were before the block. Modes that see operations do not see this."""
    with no_dispatch():
        state = get_rng_state()
    try:
        yield
    finally:
        with no_dispatch():
            set_rng_state(state)


def wrapper_set_seed(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call something that draws, from one seed every time."""
    with freeze_rng_state():
        manual_seed(42)
        return op(*args, **kwargs)
