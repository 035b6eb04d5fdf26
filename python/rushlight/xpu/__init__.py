"""What programs ask before they use a graphics processor of Intel: there is none.

>>> import rushlight as torch
>>> torch.xpu.is_available(), torch.xpu.device_count()
(False, 0)
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .._devices.absent import Switch, Unavailable, idle, refusing

_COUNTS = "device_count memory_allocated max_memory_allocated memory_reserved max_memory_reserved"
_REFUSED = (
    "synchronize current_device set_device init get_device_name get_device_capability get_device_properties "
    "get_rng_state initial_seed mem_get_info current_stream reset_peak_memory_stats "
    "reset_accumulated_memory_stats set_stream get_stream_from_external can_device_access_peer"
)
_SILENT = "empty_cache manual_seed manual_seed_all seed seed_all set_rng_state set_rng_state_all"
_DENIED = "is_available is_initialized is_bf16_supported is_tf32_supported"

idle(globals(), {_COUNTS: 0, _SILENT: None, _DENIED: False})
idle(
    globals(), {"memory_stats": OrderedDict, "get_rng_state_all get_arch_list": list, "get_gencode_flags": ""}
)
refusing(globals(), _REFUSED, AssertionError, "Torch not compiled with XPU enabled")

__all__ = [
    *f"{_COUNTS} {_REFUSED} {_SILENT} {_DENIED}".split(),
    "Event",
    "Stream",
    "StreamContext",
    "device",
    "device_of",
    "get_arch_list",
    "get_gencode_flags",
    "get_rng_state_all",
    "memory_stats",
    "stream",
]


class Stream(Unavailable):
    """A queue of a device."""


class Event(Unavailable):
    """A moment in a queue."""


class StreamContext(Switch):
    """A block whose work goes into a queue, or stays where it is if that is `None`."""


class device(Switch):
    """A block on another device."""


class device_of(device):
    """A block on the device of a tensor."""


def stream(stream: Any) -> StreamContext:
    """Return a block whose work goes into a queue."""
    return StreamContext(stream)
