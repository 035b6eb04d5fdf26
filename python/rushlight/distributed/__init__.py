"""Several processes that compute together: there is one, which programs can ask for.

>>> import rushlight as torch
>>> torch.distributed.is_available() and torch.distributed.is_initialized()
False
"""

from __future__ import annotations

__all__ = ["is_available", "is_initialized"]


def is_available() -> bool:
    """Tell whether processes can compute together: never."""
    return False


def is_initialized() -> bool:
    """Tell whether processes compute together: never."""
    return False
