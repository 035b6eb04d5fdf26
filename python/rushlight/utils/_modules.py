"""Small helps for modules, as programs for torch find them in `utils`."""

from __future__ import annotations

import os
from typing import Any

__all__: list[str] = []

# Where files for the builder of libraries in C++ would lie: there are none.
cmake_prefix_path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "share", "cmake")


def set_module(obj: Any, mod: str) -> None:
    """Say in which module something is found."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
