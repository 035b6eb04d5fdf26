"""The functions of tensors that torch's own modules call: those of the package."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Return a function of the package."""
    import rushlight

    found = getattr(rushlight, name, None)
    if name.startswith("__") or not callable(found) or isinstance(found, type):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
