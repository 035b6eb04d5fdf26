"""Names that `amp` had when every kind of device had its own: they warn, and do the same."""

from __future__ import annotations

import warnings
from typing import Any

from . import _state
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


def _warn_of(call: str, instead: str) -> None:
    warnings.warn(
        f"torch.{call} is deprecated. Please use torch.{instead} instead.", DeprecationWarning, stacklevel=3
    )


def is_autocast_cpu_enabled() -> bool:
    """`is_autocast_enabled("cpu")`."""
    _warn_of("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return _state.is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """`set_autocast_enabled("cpu", enabled)`."""
    _warn_of("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    _state.set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> Any:
    """`get_autocast_dtype("cpu")`."""
    _warn_of("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return _state.get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """`set_autocast_dtype("cpu", dtype)`."""
    _warn_of("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    _state.set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> Any:
    """`get_autocast_dtype("cuda")`."""
    _warn_of("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return _state.get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """`set_autocast_dtype("cuda", dtype)`."""
    _warn_of("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    _state.set_autocast_dtype("cuda", dtype)
