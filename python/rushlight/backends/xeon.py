"""A library beneath, which is not used."""

from __future__ import annotations


def is_available() -> bool:
    """Tell whether it is there: never."""
    return False


enabled = False
