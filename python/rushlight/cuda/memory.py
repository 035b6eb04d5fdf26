"""The memory of CUDA devices: there is none, and none of it is used."""

from __future__ import annotations

from collections import OrderedDict

from .._devices.absent import Unavailable, idle, refusing
from .._devices.streams import OutOfMemoryError as OutOfMemoryError
from ._utils import NO_DEVICE

_COUNTS = (
    "memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_cached "
    "max_memory_cached"
)
_STATISTICS = "memory_stats memory_stats_as_nested_dict host_memory_stats host_memory_stats_as_nested_dict"
_SILENT = "empty_cache caching_allocator_enable"
_REFUSED = (
    "mem_get_info reset_peak_memory_stats reset_accumulated_memory_stats reset_max_memory_allocated "
    "reset_max_memory_cached reset_peak_host_memory_stats reset_accumulated_host_memory_stats memory_summary "
    "set_per_process_memory_fraction get_per_process_memory_fraction caching_allocator_alloc "
    "caching_allocator_delete list_gpu_processes change_current_allocator use_mem_pool"
)
_OTHERS = "get_allocator_backend memory_snapshot CUDAPluggableAllocator MemPool OutOfMemoryError"

__all__ = f"{_COUNTS} {_STATISTICS} {_SILENT} {_REFUSED} {_OTHERS}".split()

idle(globals(), {_COUNTS: 0, _SILENT: None, "get_allocator_backend": "native"})
idle(globals(), {_STATISTICS: OrderedDict, "memory_snapshot": list})
refusing(globals(), f"{_REFUSED} _record_memory_history _snapshot _dump_snapshot", AssertionError, NO_DEVICE)


class MemPool(Unavailable):
    """Memory set apart."""


class CUDAPluggableAllocator(Unavailable):
    """Where memory would come from."""
