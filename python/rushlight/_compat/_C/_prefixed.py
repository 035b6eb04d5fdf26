"""Modules of torch's compiled module whose functions have the name of the family before their own."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from ..absent_operators import operator


class _Family(ModuleType):
    """A module that finds `fft_rfft` as `fft.rfft`, and so on."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{__package__}._{name}")
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith(f"{self._name}_"):
            family = import_module(f"...{self._name}", __package__)
            own = name.removeprefix(f"{self._name}_")
            if hasattr(family, own):
                return getattr(family, own)
        return operator(name)


_fft, _linalg, _special = _Family("fft"), _Family("linalg"), _Family("special")
