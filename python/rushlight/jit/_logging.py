"""Counts of what compiled scripts do: nothing is compiled, and they stay as programs set them."""

from __future__ import annotations

from typing import Any

__all__ = ["LockingLogger", "NoopLogger", "add_stat_value", "set_logger"]


class NoopLogger:
    """Keeps nothing."""

    def add_stat_value(self, name: str, value: int) -> None:
        """Add to a count."""

    def get_counter_val(self, name: str) -> int:
        """Return a count."""
        return 0


class LockingLogger(NoopLogger):
    """Keeps counts."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add_stat_value(self, name: str, value: int) -> None:
        self._counts[name] = self._counts.get(name, 0) + value

    def get_counter_val(self, name: str) -> int:
        return self._counts.get(name, 0)


_current: list[Any] = [NoopLogger()]


def set_logger(logger: Any) -> Any:
    """Say who keeps counts from now on, and return who did."""
    before = _current[0]
    _current[0] = logger
    return before


def add_stat_value(name: str, value: int) -> None:
    """Add to a count."""
    _current[0].add_stat_value(name, value)
