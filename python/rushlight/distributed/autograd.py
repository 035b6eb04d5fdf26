"""Backward through functions that ran in other processes: refused."""

from __future__ import annotations

from typing import Any

from .._devices.absent import Unavailable, refusing

__all__ = ["DistAutogradContext", "context"]

_REFUSED = "torch.distributed.autograd: functions do not run in other processes here"


def is_available() -> bool:
    """Tell whether there is such a backward: no."""
    return False


class DistAutogradContext(Unavailable):
    """What such functions leave behind."""


class context:
    """A block in which they would leave it behind."""

    def __enter__(self) -> Any:
        raise NotImplementedError(_REFUSED)

    def __exit__(self, *exception: object) -> None:
        pass


refusing(globals(), "backward get_gradients", NotImplementedError, _REFUSED)
