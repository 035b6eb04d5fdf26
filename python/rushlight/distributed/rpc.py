"""Calls of functions in other processes: there are none, which programs can ask for."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Tell whether functions of other processes can be called: never.

    >>> import rushlight as torch
    >>> torch.distributed.rpc.is_available()
    False
    """
    return False
