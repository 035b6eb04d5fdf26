"""Settings of a compiler of scripts, which change nothing."""

from __future__ import annotations

from typing import Any

from .._devices.absent import Switch

__all__ = [
    "disable",
    "enable",
    "enable_onednn_fusion",
    "export_opnames",
    "last_executed_optimized_graph",
    "onednn_fusion_enabled",
    "optimized_execution",
    "set_fusion_strategy",
    "strict_fusion",
]

_strategy: list[tuple[str, int]] = [("STATIC", 2), ("DYNAMIC", 10)]
_fusing = False


class _Enabled:
    """Whether functions are compiled: no."""

    enabled = False

    def __bool__(self) -> bool:
        return False


_enabled = _Enabled()


def _clear_class_state() -> None:
    """Forget which classes were compiled: none was."""


def enable() -> None:
    """Compile functions from now on: nothing changes."""


def disable() -> None:
    """Compile no functions from now on."""


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Say what is to be fused, and return what was said before."""
    global _strategy
    before, _strategy = _strategy, strategy
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Say whether a library may fuse operations."""
    global _fusing
    _fusing = bool(enabled)


def onednn_fusion_enabled() -> bool:
    """Tell what was said."""
    return _fusing


def export_opnames(m: Any) -> list[str]:
    """Return the operators of a compiled module: none, since nothing is compiled."""
    return []


def last_executed_optimized_graph() -> None:
    """Return what was compiled: nothing."""


class strict_fusion(Switch):
    """A block whose operations would have to be fused."""


class optimized_execution(Switch):
    """A block whose functions would be optimised, or not."""
