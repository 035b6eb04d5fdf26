"""`PackageImporter`: reads objects from an archive, with the modules that came with them."""

from __future__ import annotations

import builtins
import io
import linecache
import os
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import resolve_name
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO

from .._files.checkpoints import Archive
from .._files.torch_names import is_of_torch, is_own, own_module, torch_module
from ..serialization import _Unpickler
from ._files_shown import Directory, tree
from ._importers import Importer, demangle

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._patterns import GlobPattern

__all__ = ["PackageImporter"]

_numbers = count()


class _Archive(Archive):
    place = ".data/{}.storage"


class _PackageUnpickler(_Unpickler):
    """Reads objects whose classes may stand in modules of the archive."""

    importer: PackageImporter

    def find_class(self, module: str, name: str) -> Any:
        if not self.importer._has(module):
            return super().find_class(module, name)
        found: Any = self.importer.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found


class PackageImporter(Importer):
    """Reads objects from an archive, with the modules that came with them.

    These are others than those of the interpreter which have their names: none of them is in `sys.modules`.
    `module_allowed` is asked about each module that the archive wants from outside.
    """

    def __init__(
        self,
        file_or_buffer: str | os.PathLike[str] | BinaryIO,
        module_allowed: Callable[[str], bool] = lambda module_name: True,
    ) -> None:
        is_path = isinstance(file_or_buffer, (str, os.PathLike))
        self.filename = os.fspath(file_or_buffer) if is_path else "<binary>"  # type: ignore[arg-type]
        self._file: Any = open(self.filename, "rb") if is_path else file_or_buffer  # noqa: SIM115
        self._archive = _Archive(self._file)
        prefix = self._archive.prefix + "/"
        self._files = [one.removeprefix(prefix) for one in self._archive.members.namelist()]
        self._name = f"<torch_package_{next(_numbers)}>"
        self.extern_modules = self._archive.read(".data/extern_modules").decode().split()
        for name in self.extern_modules:
            if not module_allowed(name):
                raise ImportError(
                    f"package '{self.filename}' needs the external module '{name}' but that module has been "
                    "disallowed"
                )
        self.modules: dict[str, ModuleType] = {}
        self._builtins = {**vars(builtins), "__import__": self.__import__}

    def id(self) -> str:
        """Return the name by which those of the archive's modules begin."""
        return self._name

    def python_version(self) -> str | None:
        """Return by which version of Python the archive was written, if it says so."""
        place = ".data/python_version"
        return self._archive.read(place).decode().strip() if self._archive.has(place) else None

    def file_structure(self, *, include: GlobPattern = "**", exclude: GlobPattern = ()) -> Directory:
        """Return the files of the archive as a tree."""
        return tree(self.filename, self._files, include, exclude)

    # -- resources ---------------------------------------------------------------------------------

    def load_binary(self, package: str, resource: str) -> bytes:
        """Return bytes."""
        return self._archive.read(f"{package.replace('.', '/')}/{resource}".lstrip("/"))

    def load_text(self, package: str, resource: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return a text."""
        return self.load_binary(package, resource).decode(encoding, errors)

    def load_pickle(self, package: str, resource: str, map_location: Any = None) -> Any:
        """Return an object. As with any pickle, reading it can run any code."""
        content = io.BytesIO(self.load_binary(package, resource))
        unpickler = _PackageUnpickler(content, self._archive, map_location, careful=False)
        unpickler.importer = self
        return unpickler.load()

    # -- modules -----------------------------------------------------------------------------------

    def _source(self, name: str) -> tuple[str, bool] | None:
        """Return the file of a module of the archive, and whether it is a package."""
        place = name.replace(".", "/")
        if self._archive.has(f"{place}/__init__.py"):
            return f"{place}/__init__.py", True
        return (f"{place}.py", False) if self._archive.has(f"{place}.py") else None

    def _has(self, name: str) -> bool:
        """Tell whether a module is one of the archive: there is a file of it, or a folder with such files."""
        folder = name.replace(".", "/") + "/"
        if self._source(name) is not None:
            return True
        return any(one.startswith(folder) and one.endswith(".py") for one in self._files)

    def import_module(self, module_name: str, package: str | None = None) -> ModuleType:
        """Return a module: of the archive, or one from outside that the archive may need."""
        name = resolve_name(module_name, demangle(package)) if package else demangle(module_name)
        if name in self.modules:
            return self.modules[name]
        if self._has(name):
            return self._load(name)
        outside = torch_module(name) if is_own(name) else name
        if any(one == outside or one.startswith(f"{outside}.") for one in self.extern_modules):
            return import_module(own_module(name) if is_of_torch(name) else name)
        raise ModuleNotFoundError(
            f'No module named "{name}" in self-contained archive "{self.filename}" and the module is also '
            f"not in the list of allowed external modules: {self.extern_modules}",
            name=name,
        )

    def _load(self, name: str) -> ModuleType:
        """Run a module of the archive; its package comes first."""
        above, _, own = name.rpartition(".")
        parent = self.import_module(above) if above else None
        if name in self.modules:  # Its package has imported it.
            return self.modules[name]
        file, is_package = self._source(name) or (f"{name.replace('.', '/')}/", True)
        module = ModuleType(f"{self._name}.{name}")
        module.__spec__ = ModuleSpec(name, self, origin="<package_importer>", is_package=is_package)  # type: ignore[arg-type]
        module.__loader__ = self  # type: ignore[assignment]
        module.__file__ = f"{self._name}.{file}"
        module.__package__ = module.__name__ if is_package else f"{self._name}.{above}".rstrip(".")
        if is_package:
            module.__path__ = []
        vars(module)["__builtins__"] = self._builtins
        vars(module)["__torch_package__"] = True
        self.modules[name] = module
        if not file.endswith("/"):
            try:
                linecache.lazycache(module.__file__, vars(module))
                exec(compile(self.get_source(name), module.__file__, "exec", dont_inherit=True), vars(module))
            except BaseException:
                del self.modules[name]
                raise
        if parent is not None:
            setattr(parent, own, module)
        return self.modules[name]

    def get_source(self, module_name: str) -> str:
        """Return the source of a module."""
        found = self._source(demangle(module_name))
        if found is None:
            raise ImportError(f"there is no source of {module_name} in the archive", name=module_name)
        return self._archive.read(found[0]).decode("utf-8")

    def __import__(
        self,
        name: str,
        globals: dict[str, Any] | None = None,
        locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> ModuleType:
        """Import as a module of the archive does."""
        package = demangle((globals or {}).get("__package__") or "")
        found = self.import_module(resolve_name("." * level + name, package) if level else name)
        if not fromlist:
            return found if level else self.import_module(name.partition(".")[0])
        inner = demangle(found.__name__)
        for member in fromlist:
            if member != "*" and not hasattr(found, member) and self._has(f"{inner}.{member}"):
                self.import_module(f"{inner}.{member}")
        return found
