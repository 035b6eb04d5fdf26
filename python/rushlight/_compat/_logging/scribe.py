"""What is told of the use of parts: nothing is sent anywhere."""

from __future__ import annotations

from typing import Any

__all__: list[str] = []


def open_source_signpost(subsystem: str, name: str, parameters: Any, env_filter: Any = None) -> None:
    """Say that something was reached."""
