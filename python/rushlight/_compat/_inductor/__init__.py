"""What programs tell the compiler behind torch's compiler: it changes nothing."""

from __future__ import annotations

from typing import Any

from . import config as config

__all__ = ["cudagraph_mark_step_begin", "list_mode_options", "list_options"]


def cudagraph_mark_step_begin() -> None:
    """Say that a step begins."""


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """Return which options a mode sets: none."""
    return {} if mode else {"default": {}, "reduce-overhead": {}, "max-autotune": {}}


def list_options() -> list[str]:
    """Return the names of options: there are none."""
    return []
