"""Levels of forward mode, as they are entered and left by number, and functions of a single level."""

from __future__ import annotations

from threading import local

from ... import _rushlight
from ...autograd import forward_ad


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


class _SingleLevel(local):
    """Whether functions of a single level may be called inside of transforms on a thread."""

    allowed = False


_single_level = _SingleLevel()


def get_single_level_autograd_function_allowed() -> bool:
    """Tell whether functions of a single level may be called inside of transforms."""
    return _single_level.allowed


def set_single_level_autograd_function_allowed(allowed: bool) -> None:
    """Let functions of a single level be called inside of transforms, or not."""
    _single_level.allowed = bool(allowed)


def check_single_level() -> None:
    """Refuse the call of such a function inside of transforms."""
    if _rushlight._transform_count() and not _single_level.allowed:
        raise RuntimeError(
            "functorch functions (vmap, grad, vjp, etc.) incorrectly used with "
            "torch.autograd.function._SingleLevelFunction. This is not expected, please file a bug."
        )
