"""Levels of forward mode, as they are entered and left by number."""

from __future__ import annotations

from ..autograd import forward_ad


def _enter_dual_level() -> int:
    """Enter a level of forward mode and return its number."""
    return forward_ad.enter_dual_level()


def _exit_dual_level(level: int) -> None:
    """Leave a level."""
    if level < 0 or level != forward_ad._current_level:
        raise RuntimeError(
            "Exiting a forward AD level that is not the last that was created is not support. Ensure they "
            "are released in the reverse order they were created."
        )
    forward_ad.exit_dual_level(level=level)
