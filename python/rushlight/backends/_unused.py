"""What each of the libraries beneath says that are not used."""

from __future__ import annotations


def is_available() -> bool:
    """Tell whether it is there: never."""
    return False


enabled = False
