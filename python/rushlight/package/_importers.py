"""Where the modules of objects come from: the interpreter, or archives that were opened."""

from __future__ import annotations

import importlib
import re
import sys
from abc import ABC, abstractmethod
from pickle import whichmodule  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

from .._files.torch_names import is_own, torch_place

__all__ = [
    "Importer",
    "ObjMismatchError",
    "ObjNotFoundError",
    "OrderedImporter",
    "demangle",
    "is_from_package",
    "is_mangled",
    "sys_importer",
]


class ObjNotFoundError(Exception):
    """An importer does not find an object by its name."""


class ObjMismatchError(Exception):
    """An importer finds another object by the name of this one."""


def is_mangled(name: str) -> bool:
    """Tell whether a module is one of an archive: its name begins with that of the archive."""
    return re.match(r"<torch_package_\d+>", name) is not None


def demangle(name: str) -> str:
    """Return the name of a module without that of the archive."""
    return name.partition(".")[2] if is_mangled(name) else name


def is_from_package(obj: Any) -> bool:
    """Tell whether a module, or an object whose class stands in one, was imported from an archive."""
    if isinstance(obj, ModuleType):
        return is_mangled(obj.__name__)
    return is_mangled(type(obj).__module__)


class Importer(ABC):
    """Finds modules by their names, and the names of objects in them."""

    modules: dict[str, ModuleType]

    @abstractmethod
    def import_module(self, module_name: str) -> ModuleType:
        """Return a module, as `importlib.import_module` does."""

    def get_name(self, obj: Any, name: str | None = None) -> tuple[str, str]:
        """Return the module and the name by which an object is found, or refuse if it is not."""
        name = str(name or getattr(obj, "__qualname__", None) or obj.__name__)
        module = self.whichmodule(obj, name)
        own = demangle(module)
        try:
            found: Any = self.import_module(own)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, KeyError, AttributeError):
            raise ObjNotFoundError(f"{obj} was not found as {own}.{name}") from None
        if found is not obj:
            raise ObjMismatchError(
                f"{obj} is another object than {own}.{name} of this importer ({self!r}), which is {found}. "
                "Objects that were imported from an archive can be exported by a PackageExporter whose "
                "`importer` is that of the archive."
            )
        return own, name

    def whichmodule(self, obj: Any, name: str) -> str:
        """Return the name of the module that an object is in."""
        module = getattr(obj, "__module__", None)
        if module is not None:
            return str(module)
        for known, one in list(self.modules.items()):
            if known not in ("__main__", "__mp_main__") and getattr(one, name, None) is obj:
                return known
        return "__main__"


class _SysImporter(Importer):
    """The modules of the interpreter."""

    modules = sys.modules

    def import_module(self, module_name: str) -> ModuleType:
        return importlib.import_module(module_name)

    def whichmodule(self, obj: Any, name: str) -> str:
        return str(whichmodule(obj, name))

    def get_name(self, obj: Any, name: str | None = None) -> tuple[str, str]:
        found = super().get_name(obj, name)
        return (torch_place(*found), found[1]) if is_own(found[0]) else found


sys_importer = _SysImporter()


class OrderedImporter(Importer):
    """Several importers: the first that knows a module is asked."""

    def __init__(self, *args: Importer) -> None:
        self._importers = list(args)

    @property
    def modules(self) -> dict[str, ModuleType]:  # type: ignore[override]
        """The modules of all of them."""
        return {name: one for importer in reversed(self._importers) for name, one in importer.modules.items()}

    def import_module(self, module_name: str) -> ModuleType:
        failure = None
        for importer in self._importers:
            try:
                return importer.import_module(module_name)
            except ModuleNotFoundError as error:
                failure = error
        raise failure or ModuleNotFoundError(module_name)

    def get_name(self, obj: Any, name: str | None = None) -> tuple[str, str]:
        failure: Exception | None = None
        for importer in self._importers:
            try:
                return importer.get_name(obj, name)
            except (ObjNotFoundError, ObjMismatchError) as error:
                failure = error
        raise failure or ObjNotFoundError(f"{obj} was not found: there is no importer")
