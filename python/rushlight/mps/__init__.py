"""What programs ask before they use a graphics processor of Apple: there is none.

>>> import rushlight as torch
>>> torch.mps.is_available(), torch.mps.device_count()
(False, 0)
"""

from __future__ import annotations

from .._devices.absent import idle, refusing

_REFUSED = (
    "synchronize:deviceSynchronize empty_cache:emptyCache seed:getDefaultGenerator "
    "get_rng_state:getDefaultGenerator set_rng_state:getDefaultGenerator "
    "current_allocated_memory:getCurrentAllocatedMemory driver_allocated_memory:getDriverAllocatedMemory "
    "recommended_max_memory:getRecommendedMaxMemory set_per_process_memory_fraction:setMemoryFraction "
    "compile_shader:compileShader Event:acquireEvent"
)

idle(globals(), {"is_available": False, "device_count": 0, "manual_seed": None})
refusing(globals(), _REFUSED, RuntimeError, "Cannot execute {}() without MPS backend.")

__all__ = ["device_count", "is_available", "manual_seed"]
__all__ += [entry.partition(":")[0] for entry in _REFUSED.split()]
