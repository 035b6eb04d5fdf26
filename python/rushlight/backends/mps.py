"""A device of other machines, which is not used."""

from __future__ import annotations


def is_available() -> bool:
    """Tell whether it is there: never."""
    return False


def is_built() -> bool:
    """Tell whether it could be used: never."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Refuse: what is not there cannot be asked."""
    raise RuntimeError("Cannot execute isOnMacOSorNewer() without MPS backend.")
