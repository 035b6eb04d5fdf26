"""Whether a library is there, without importing it."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__: list[str] = []


def _check_module_exists(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


def dill_available() -> bool:
    """Tell whether `dill` is there, which pickles more than Python does."""
    return _check_module_exists("dill")


def import_dill() -> Any:
    """Return `dill` if it is there, without what it changes for other pickles."""
    if not dill_available():
        return None
    dill = import_module("dill")
    dill.extend(use_dill=False)
    return dill
