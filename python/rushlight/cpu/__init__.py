"""What programs for any device ask of the one that they run on."""

from __future__ import annotations

from typing import Any

from .._lazy import on_first_use

__all__ = ["current_device", "device_count", "is_available", "is_initialized", "set_device", "synchronize"]

__getattr__, __dir__ = on_first_use(globals(), rooms={"amp"})


def is_available() -> bool:
    """Tell whether there is a CPU.

    >>> import rushlight as torch
    >>> torch.cpu.is_available(), torch.cpu.device_count(), torch.cpu.current_device()
    (True, 1, 'cpu')
    """
    return True


def is_initialized() -> bool:
    """Tell whether the CPU can be used: always."""
    return True


def device_count() -> int:
    """Return the number of CPUs as devices: one, however many cores there are."""
    return 1


def current_device() -> str:
    """Return the name of the device."""
    return "cpu"


def set_device(device: Any) -> None:
    """Choose the device. There is nothing to choose."""


def synchronize(device: Any = None) -> None:
    """Wait until everything is computed. Whatever was called is."""
