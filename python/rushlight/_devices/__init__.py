"""What is said of devices and element types that are not there."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any


def install(device: Any) -> None:
    """Make devices context managers, in which tensors are made on them."""
    device.__enter__ = _enter
    device.__exit__ = _exit


def _enter(device: Any) -> Any:
    from ..utils._device import _enter

    return _enter(device)


def _exit(device: Any, *exception: Any) -> None:
    from ..utils._device import _exit

    _exit(device, *exception)
