"""What torch counts of tensors that are computed later, on a device of their own. There are none here."""

from __future__ import annotations

__all__ = ["counter_names", "counter_value", "metrics_report", "reset"]


def reset() -> None:
    """Begin to count anew."""


def counter_names() -> list[str]:
    """Name what was counted: nothing."""
    return []


def counter_value(name: str) -> int:
    """Return how often something happened: never."""
    return 0


def metrics_report() -> str:
    """Return all that was counted and measured as text."""
    return ""
