"""What is logged at present, and how tests put that aside."""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["LogState", "log_registry", "log_state", "trace_log"]

trace_log = logging.getLogger("torch.__trace")


class LogState:
    """Which loggers say what, by name."""

    def __init__(self) -> None:
        self.log_qname_to_level: dict[str, int] = {}
        self.artifact_names: set[str] = set()

    def clear(self) -> None:
        """Forget everything."""
        self.log_qname_to_level.clear()
        self.artifact_names.clear()


class _Registry:
    """The loggers that there are."""

    def get_log_qnames(self) -> set[str]:
        """Return the names of loggers of parts: there are none."""
        return set()


log_state = LogState()
log_registry = _Registry()


def _get_log_state() -> LogState:
    return log_state


def _set_log_state(state: LogState) -> None:
    global log_state
    log_state = state


def _init_logs(log_file_name: Any = None) -> None:
    """Have loggers say what was asked for: they are Python's, and do."""
