"""The accelerator of this machine, whichever it is: there is none.

>>> import rushlight as torch
>>> torch.accelerator.is_available(), torch.accelerator.current_accelerator()
(False, None)
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from .._devices.absent import idle, refusing

if TYPE_CHECKING:
    from .._rushlight import device as Device

_ABSENT = "Cannot access accelerator device when none is available."
_REFUSED = (
    "current_device_idx current_device_index set_device_idx set_device_index current_stream set_stream "
    "synchronize get_device_capability get_memory_info"
)
_COUNTS = "memory_allocated max_memory_allocated memory_reserved max_memory_reserved device_count"
_SILENT = "empty_cache empty_host_cache reset_accumulated_memory_stats reset_peak_memory_stats"

idle(globals(), {_COUNTS: 0, _SILENT: None, "memory_stats": OrderedDict, "is_available": False})
refusing(globals(), _REFUSED, RuntimeError, _ABSENT)

__all__ = [
    *_REFUSED.split(),
    *_COUNTS.split(),
    *_SILENT.split(),
    "current_accelerator",
    "device_index",
    "is_available",
    "memory_stats",
]


def current_accelerator(check_available: bool = False) -> Device | None:
    """Return the kind of the accelerator: `None`, since there is none."""
    return None


class device_index:
    """A block on another device: an error when it begins, unless it is `None` that is meant."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            raise RuntimeError(_ABSENT)

    def __exit__(self, *exception: Any) -> None:
        pass
