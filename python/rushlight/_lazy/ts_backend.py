"""What would compute tensors of the device "lazy", which are not there."""

from __future__ import annotations

__all__ = ["init"]


def init() -> None:
    """Prepare it: there is nothing to prepare."""
