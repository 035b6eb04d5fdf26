"""What programs ask before they use an accelerator of Meta: there is none.

>>> import rushlight as torch
>>> torch.mtia.is_available(), torch.mtia.device_count()
(False, 0)
"""

from __future__ import annotations

from .._devices.absent import Switch, idle, refusing
from .._devices.streams import Event, Stream

_COUNTS = "device_count memory_allocated max_memory_allocated"
_DENIED = "is_available is_initialized is_bf16_supported"
_SILENT = "manual_seed manual_seed_all seed seed_all set_rng_state set_rng_state_all"
_REFUSED = (
    "synchronize:getCurrentDevice current_device:getCurrentDevice empty_cache:emptyCache "
    "set_device:setCurrentDevice get_device_capability:getCurrentDevice current_stream:getCurrentStream "
    "default_stream:getDefaultStream get_device_properties:getDeviceProperties set_stream:setCurrentStream "
    "get_rng_state:getDefaultGenerator initial_seed:getDefaultGenerator"
)

idle(globals(), {_COUNTS: 0, _DENIED: False, _SILENT: None, "memory_stats": dict, "get_rng_state_all": list})
refusing(globals(), _REFUSED, RuntimeError, "Cannot execute {}() without MTIA backend.")
refusing(globals(), "init", AssertionError, "Torch not compiled with MTIA enabled.")

__all__ = [
    *f"{_COUNTS} {_DENIED} {_SILENT}".split(),
    *(entry.partition(":")[0] for entry in _REFUSED.split()),
    "Event",
    "Stream",
    "device",
    "get_rng_state_all",
    "init",
    "memory_stats",
    "stream",
]


class device(Switch):
    """A block on another device."""


class stream(Switch):
    """A block whose work goes into a queue, or stays where it is if that is `None`."""
