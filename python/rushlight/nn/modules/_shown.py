"""How the arguments of a module are shown in its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .module import Module


def shown(module: Module, *names: str) -> str:
    """Return attributes of `module` as the arguments that they came from."""
    return ", ".join(f"{name}={getattr(module, name)}" for name in names)
