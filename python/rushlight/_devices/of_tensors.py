"""What tensors say of other devices, of other processes and of few bits: they have none of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor
from .absent import refusing

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []


def record_stream(self: Tensor, s: Any) -> None:
    """Say that a queue uses the memory: what uses it here is done when its call returns."""


def storage_type(self: Tensor) -> Any:
    """Return the class of storages of this type of elements."""
    from .._tensors import storage_classes

    made = self.storage()
    named = (getattr(storage_classes, name) for name in storage_classes.__all__)
    return next((each for each in named if isinstance(made, each)), type(made))


def const_data_ptr(self: Tensor) -> int:
    """Return where the memory begins, for who only reads."""
    return self.data_ptr()


def dequantize(self: Tensor) -> Tensor:
    """Return the numbers, which are not few."""
    return self.float()


def _is_zerotensor(self: Tensor) -> bool:
    """Tell whether it is a tensor of zeros without memory, which none is."""
    return False


def _lazy_clone(self: Tensor) -> Tensor:
    """Return a copy, which here has memory of its own at once."""
    return self.clone()


xpu: Callable[..., Any]
mtia: Callable[..., Any]
ipu: Callable[..., Any]
refusing(globals(), "xpu", AssertionError, "Torch not compiled with XPU enabled")
refusing(globals(), "mtia", AssertionError, "Torch not compiled with MTIA enabled")
refusing(globals(), "ipu", RuntimeError, "PyTorch is not linked with support for ipu devices")
