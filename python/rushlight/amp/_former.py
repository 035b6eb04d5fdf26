"""Names that `amp` had when every kind of device had its own: they warn, and do the same."""

from __future__ import annotations

import warnings
from typing import Any

from .autocast_mode import autocast
from .grad_scaler import GradScaler


def warn(old: str, new: str) -> None:
    """Say that the caller's caller uses an old name, and what it is called now."""
    warnings.warn(
        f"`torch.{old}` is deprecated. Please use `torch.amp.{new}` instead.", FutureWarning, stacklevel=3
    )


class FormerAutocast(autocast):
    """`autocast` for one kind of device, in one type unless another is given."""

    _kind: str
    _half: Any

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        warn(f"{self._kind}.amp.autocast(args...)", f"autocast('{self._kind}', args...)")
        super().__init__(self._kind, dtype or self._half, enabled, cache_enabled)


class FormerGradScaler(GradScaler):
    """`GradScaler` for one kind of device."""

    _kind: str

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn(f"{self._kind}.amp.GradScaler(args...)", f"GradScaler('{self._kind}', args...)")
        super().__init__(self._kind, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
