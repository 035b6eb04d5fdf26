"""Operators as torch's dispatcher has them: their schemas, and the functions behind them."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from types import ModuleType


def package() -> ModuleType:
    """Return the package itself, whose functions are looked up when they are called."""
    return sys.modules[__name__.rpartition(".")[0]]
