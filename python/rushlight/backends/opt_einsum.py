"""The package that finds in which order products of several tensors are cheap: it is not asked."""

from __future__ import annotations

__all__: list[str] = []

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """Tell whether the package is asked: no."""
    return False
