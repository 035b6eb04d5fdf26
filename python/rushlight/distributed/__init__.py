"""Several processes that compute together: there is one, which programs can ask for.

>>> import rushlight as torch
>>> torch.distributed.is_available() and torch.distributed.is_initialized()
False
"""

from __future__ import annotations

from .._lazy import on_first_use

__all__ = ["is_available", "is_initialized"]

__getattr__, __dir__ = on_first_use(globals(), rooms={"device_mesh", "fsdp", "rpc", "tensor"})


def is_available() -> bool:
    """Tell whether processes can compute together: never."""
    return False


def is_initialized() -> bool:
    """Tell whether processes compute together: never."""
    return False
