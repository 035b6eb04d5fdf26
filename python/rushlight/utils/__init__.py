"""What is useful around tensors and is not about tensors."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from types import ModuleType

    from . import data as data

__all__ = ["data"]


def __getattr__(name: str) -> ModuleType:
    """Import `data` when it is first asked for."""
    if name != "data":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module(f"{__name__}.data")
