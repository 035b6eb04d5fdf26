"""The profiler of CUDA devices, which is not there."""

from __future__ import annotations

from .._devices.absent import refusing
from ._utils import NO_DEVICE

_REFUSED = "init start stop profile"
__all__ = _REFUSED.split()

refusing(globals(), _REFUSED, AssertionError, NO_DEVICE)
