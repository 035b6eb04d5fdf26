"""Random numbers of CUDA devices: seeds go nowhere, and there is no state."""

from __future__ import annotations

from typing import Any

from .._devices.absent import idle, refusing
from ._utils import NO_DEVICE

_SILENT = "set_rng_state seed seed_all"
_LISTED = "get_rng_state_all"
_REFUSED = "get_rng_state initial_seed"
__all__ = [*f"{_SILENT} {_LISTED} {_REFUSED}".split(), "manual_seed", "manual_seed_all", "set_rng_state_all"]

idle(globals(), {_SILENT: None, _LISTED: list})
refusing(globals(), _REFUSED, AssertionError, NO_DEVICE)


def manual_seed(seed: int) -> None:
    """Seed the generator of the CUDA device, if there were one."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all CUDA devices. There are none.

    >>> import rushlight as torch
    >>> torch.cuda.manual_seed_all(1)
    """
    int(seed)


def set_rng_state_all(new_states: Any) -> None:
    """Give the generators of all CUDA devices states: as many as there are devices, none."""
    for _ in new_states:
        raise AssertionError(NO_DEVICE)
