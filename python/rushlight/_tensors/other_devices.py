"""What tensors say of other devices, of other processes and of few bits: they have none of it."""

from __future__ import annotations

from typing import Any

from .._rushlight import Tensor

__all__: list[str] = []


def record_stream(self: Tensor, s: Any) -> None:
    """Say that a queue uses the memory: what uses it here is done when its call returns."""


def storage_type(self: Tensor) -> Any:
    """Return the class of storages of this type of elements."""
    from . import storage_classes

    made = self.storage()
    named = (getattr(storage_classes, name) for name in storage_classes.__all__)
    return next((each for each in named if isinstance(made, each)), type(made))


def const_data_ptr(self: Tensor) -> int:
    """Return where the memory begins, for who only reads."""
    return self.data_ptr()


def dequantize(self: Tensor) -> Tensor:
    """Return the numbers, which are not few."""
    return self.float()


def _not_here(name: str, device: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError(f"Torch not compiled with {device} enabled")

    method.__name__ = method.__qualname__ = name
    method.__doc__ = "Refuse: there is no such device."
    return method


xpu = _not_here("xpu", "XPU")
mtia = _not_here("mtia", "MTIA")


def ipu(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Refuse: there is no such device."""
    raise RuntimeError("PyTorch is not linked with support for ipu devices")
