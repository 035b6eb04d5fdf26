"""The memory of tensors: how much there is, and giving back what waits for its next use.

A program does the same again and again, so rushlight keeps large blocks that were freed: a new one costs a
page fault every 4 KB. What waits never exceeds `RUSHLIGHT_CACHE_MB` megabytes, an environment variable (256).

    >>> import rushlight as torch
    >>> x = torch.zeros(1_000_000)
    >>> before = torch.memory.allocated_bytes()
    >>> del x
    >>> before - torch.memory.allocated_bytes() >= 4_000_000
    True
    >>> torch.memory.trim()
    >>> torch.memory.idle_bytes()
    0
"""

from ._rushlight import _allocated_bytes as allocated_bytes
from ._rushlight import _idle_bytes as idle_bytes
from ._rushlight import _trim_memory as trim

__all__ = ["allocated_bytes", "idle_bytes", "trim"]
