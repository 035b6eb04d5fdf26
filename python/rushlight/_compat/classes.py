"""`torch.classes`: classes of libraries in C++, of which there are none."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from .._ops import ops


class _OfNamespace(ModuleType):
    """The classes of a library."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        raise RuntimeError(
            f"Tried to instantiate class '{self.__name__.rpartition('.')[2]}.{name}', but it does not exist! "
            "Ensure that it is registered via torch::class_"
        )


class _Classes(ModuleType):
    """The namespaces of classes that are compiled for torch."""

    def __init__(self) -> None:
        super().__init__("torch.classes")
        self.loaded_libraries: set[str] = set()

    def __getattr__(self, name: str) -> _OfNamespace:
        if name.startswith("__"):
            raise AttributeError(f"module 'torch.classes' has no attribute {name!r}")
        self.__dict__[name] = namespace = _OfNamespace(f"torch.classes.{name}")
        return namespace

    def load_library(self, path: Any) -> None:
        """Load what stands in for a library of operators; others are made for torch itself."""
        ops.load_library(path)
        self.loaded_libraries.add(os.path.realpath(path))

    def __repr__(self) -> str:
        return "<module 'torch.classes' from '_classes.py'>"


classes = _Classes()
