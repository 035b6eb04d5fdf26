"""`PackageExporter`: writes objects and the source of the modules that they need into an archive."""

from __future__ import annotations

import io
import pickle
import pickletools
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from platform import python_version
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from .._files.torch_names import is_own, torch_module
from .._files.writing import _DISPATCH, PyTorchFileWriter, TensorPickler
from ._importers import Importer, ObjMismatchError, ObjNotFoundError, OrderedImporter, demangle, sys_importer
from ._needs import needs_of
from ._patterns import GlobGroup, GlobPattern

if TYPE_CHECKING:
    from typing_extensions import Self

    from .._rushlight import Tensor

__all__ = ["EmptyMatchError", "PackageExporter", "PackagingError"]

Hook = Callable[["PackageExporter", str], None]

_NO_ACTION = "Module did not match against any action pattern. Extern, mock, or intern it."
_UNKNOWN = "Dependency resolution failed."
_DENIED = "Module was denied by a pattern."
_COMPILED = "Module is a C extension module. torch.package supports Python modules only."
_NO_FILE = "Module had no __file__ defined."
_NO_SOURCE = "Module had a __file__, but we could not find it in your filesystem."
_STILL_USED = (
    "Module was mocked out, but is still being used in the package. Please intern or extern the mocked "
    "modules if objects are supposed to be in the package."
)


class EmptyMatchError(Exception):
    """A pattern that has to match some module matched none."""


class PackagingError(Exception):
    """Modules that are needed cannot be put into the archive."""

    def __init__(self, reasons: dict[str, list[str]], debug: bool = False) -> None:
        lines = [""]
        for reason, modules in reasons.items():
            lines += [f"* {reason}", *(f"    {module}" for module in modules)]
        if not debug:
            lines += [
                "",
                "Set debug=True when invoking PackageExporter for a visualization of where broken modules "
                "are coming from!",
            ]
        super().__init__("\n".join(lines) + "\n")


class _Rule(NamedTuple):
    """What is done with the modules that match a pattern."""

    action: str
    group: GlobGroup
    allow_empty: bool


class _Pickler(TensorPickler, pickle._Pickler):
    """Writes tensors as files of them do, and names of classes as the importer of the archive knows them."""

    dispatch = _DISPATCH
    importer: Importer

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module = getattr(obj, "__module__", None)
        if is_own(module) or module is None:
            super().save_global(obj, name)
            return
        try:
            module, name = self.importer.get_name(obj, name)
        except (ObjNotFoundError, ObjMismatchError) as error:
            raise pickle.PicklingError(f"Can't pickle {obj}: {error}") from None
        self.write(b"c" + f"{module}\n{name}\n".encode())  # type: ignore[attr-defined]
        self.memoize(obj)  # type: ignore[attr-defined]


class PackageExporter:
    """Writes objects and the source of the modules that they need into an archive.

    `intern` says which modules come with their source, `extern` which are to be there where the archive is
    read, `mock` which are replaced by something that cannot be used, and `deny` which may not be needed. The
    first that matches a module holds. Python's own modules and torch are always extern.
    """

    def __init__(
        self,
        f: str | Path | BinaryIO,
        importer: Importer | Sequence[Importer] = sys_importer,
        debug: bool = False,
    ) -> None:
        self._writer = PyTorchFileWriter(str(f) if isinstance(f, (str, Path)) else f)
        self.importer = importer if isinstance(importer, Importer) else OrderedImporter(*importer)
        self._debug = debug
        self._rules: list[_Rule] = []
        self._matched: Counter[int] = Counter()
        self._hooks: dict[str, OrderedDict[int, Hook]] = {
            action: OrderedDict() for action in ("intern", "extern", "mock")
        }
        self._chosen: dict[str, str] = {}  # What is done with a module.
        self._wrong: dict[str, str] = {}  # Why a module cannot be in the archive.
        self._edges: dict[str, dict[str, None]] = {}  # What needs which modules.
        self._storages: dict[int, tuple[str, Tensor]] = {}
        self._sizes: dict[int, int] = {}
        self._unique = 0
        self._is_closed = False

    # -- what is done with modules -----------------------------------------------------------------

    def _rule(self, action: str, include: GlobPattern, exclude: GlobPattern, allow_empty: bool) -> None:
        self._rules.append(_Rule(action, GlobGroup(include, exclude=exclude), allow_empty))

    def intern(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Put the source of these modules into the archive."""
        self._rule("intern", include, exclude, allow_empty)

    def extern(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Have these modules imported from where the archive is read."""
        self._rule("extern", include, exclude, allow_empty)

    def mock(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Put what can be imported and not be used in the place of these modules."""
        self._rule("mock", include, exclude, allow_empty)

    def deny(self, include: GlobPattern, *, exclude: GlobPattern = ()) -> None:
        """Refuse to write an archive that needs these modules."""
        self._rule("deny", include, exclude, True)

    def register_intern_hook(self, hook: Hook) -> Any:
        """Call `hook(exporter, module)` for every module whose source is written."""
        return self._hooked("intern", hook)

    def register_extern_hook(self, hook: Hook) -> Any:
        """Call `hook(exporter, module)` for every module that has to be there when the archive is read."""
        return self._hooked("extern", hook)

    def register_mock_hook(self, hook: Hook) -> Any:
        """Call `hook(exporter, module)` for every module that is mocked out."""
        return self._hooked("mock", hook)

    def _hooked(self, action: str, hook: Hook) -> Any:
        from .._hooks import RemovableHandle

        handle = RemovableHandle(self._hooks[action])
        self._hooks[action][handle.id] = hook
        return handle

    def add_dependency(self, module_name: str, dependencies: bool = True) -> None:
        """Decide what is done with a module that is needed, and with those that it needs."""
        if module_name in self._chosen:
            return
        top = module_name.partition(".")[0]
        if top == "torch" or top in sys.stdlib_module_names:
            self._chosen[module_name] = "extern"
            return
        for place, rule in enumerate(self._rules):
            if rule.group.matches(module_name):
                self._matched[place] += 1
                self._chosen[module_name] = rule.action
                if rule.action == "deny":
                    self._wrong[module_name] = _DENIED
                elif rule.action == "intern":
                    self._intern(module_name, dependencies)
                return
        self._chosen[module_name] = "none"
        self._wrong[module_name] = _NO_ACTION

    def _intern(self, name: str, dependencies: bool) -> None:
        """Write the source of a module."""
        try:
            module = self.importer.import_module(name)
        except ImportError:
            self._wrong[name] = _UNKNOWN
            return
        found = self._source_of(module)
        if found is None:
            file = getattr(module, "__file__", None)
            is_compiled = file is not None and Path(file).suffix in (".so", ".pyd", ".dylib")
            self._wrong[name] = _NO_FILE if file is None else _COMPILED if is_compiled else _NO_SOURCE
            return
        self._write_module(name, found, hasattr(module, "__path__"), dependencies)

    def _source_of(self, module: ModuleType) -> str | None:
        get = getattr(module.__loader__, "get_source", None)
        try:
            found = get(module.__name__) if get is not None else None
        except (ImportError, OSError):
            return None
        return found if isinstance(found, str) else None

    def _write_module(self, name: str, source: str, is_package: bool, dependencies: bool) -> None:
        place = name.replace(".", "/") + ("/__init__.py" if is_package else ".py")
        self._write(place, source)
        self._chosen[name] = "intern"
        if dependencies:
            for module, member in needs_of(source, name, is_package):
                self._need(name, module, member)

    def _need(self, user: str, module: str, member: str | None = None) -> None:
        """Say that something needs a module, or one of its parts that is a module."""
        needed = torch_module(module) if is_own(module) else module
        self._edges.setdefault(user, {})[needed] = None
        self.add_dependency(needed)
        if member is None or self._chosen[needed] == "mock":
            return
        part = f"{module}.{member}"
        try:
            is_module = isinstance(getattr(self.importer.import_module(module), member, None), ModuleType)
            if is_module and demangle(self.importer.import_module(part).__name__) == part:
                self._need(user, part)
        except ImportError:
            return

    # -- what is written ---------------------------------------------------------------------------

    def _write(self, place: str, content: str | bytes) -> None:
        data = content.encode() if isinstance(content, str) else content
        self._writer.write_record(place, data, len(data))

    def get_unique_id(self) -> str:
        """Return a name that nothing in the archive has yet."""
        self._unique += 1
        return str(self._unique - 1)

    def save_source_file(
        self, module_name: str, file_or_directory: str | Path, dependencies: bool = True
    ) -> None:
        """Write a file as a module, or the files of a folder as a package."""
        path = Path(file_or_directory)
        if not path.is_dir():
            self.save_source_string(module_name, path.read_text("utf-8"), False, dependencies)
            return
        for file in sorted(path.rglob("*.py")):
            parts = [module_name, *file.relative_to(path).with_suffix("").parts]
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            self.save_source_string(name, file.read_text("utf-8"), is_package, dependencies)

    def save_source_string(
        self, module_name: str, src: str, is_package: bool = False, dependencies: bool = True
    ) -> None:
        """Write a text as the source of a module."""
        self._write_module(module_name, src, is_package, dependencies)

    def save_module(self, module_name: str, dependencies: bool = True) -> None:
        """Write the source of a module that can be imported here."""
        if not isinstance(module_name, str):
            raise TypeError("save_module() expects a string input, did you perhaps mean to pass `__name__`?")
        self._intern(module_name, dependencies)

    def save_pickle(
        self, package: str, resource: str, obj: Any, dependencies: bool = True, pickle_protocol: int = 3
    ) -> None:
        """Write an object, and what its classes need."""
        first = _Pickler(io.BytesIO(), pickle_protocol, self._sizes, is_first=True, is_stream=False)
        content = io.BytesIO()
        second = _Pickler(content, pickle_protocol, self._sizes, is_first=False, is_stream=False)
        for pickler in (first, second):
            pickler.importer = self.importer
            pickler.storages = self._storages
            pickler.dump(obj)
        place = f"{package.replace('.', '/')}/{resource}"
        if dependencies:
            for operation, named, _ in pickletools.genops(content.getvalue()):
                if operation.name == "GLOBAL" and isinstance(named, str):
                    module = named.partition(" ")[0]
                    self._need(place, module)
                    if self._chosen[module] == "mock":
                        self._wrong[module] = _STILL_USED
        self._write(place, content.getvalue())

    def save_text(self, package: str, resource: str, text: str) -> None:
        """Write a text."""
        self.save_binary(package, resource, text.encode("utf-8"))

    def save_binary(self, package: str, resource: str, binary: bytes) -> None:
        """Write bytes."""
        self._write(f"{package.replace('.', '/')}/{resource}", binary)

    # -- the end -----------------------------------------------------------------------------------

    def close(self) -> None:
        """Check that everything which is needed is there, and write what is left."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._check()
        except BaseException as failure:
            self._writer.__exit__(type(failure), failure, None)
            raise
        for name, action in list(self._chosen.items()):
            for hook in self._hooks.get(action, {}).values():
                hook(self, name)
        mocked = self.mocked_modules()
        if mocked:
            self._write("_mock.py", Path(__file__).with_name("_mocked.py").read_text("utf-8"))
        for name in mocked:
            source = (
                "from _mock import MockedObject\n\n\ndef __getattr__(name):\n"
                '    return MockedObject(__name__ + "." + name, _suppress_err=True)\n'
            )
            self._write(f"{name.replace('.', '/')}.py", source)
        for block, (key, shown) in self._storages.items():
            storage = shown.untyped_storage()
            self._writer.write_record(f".data/{key}.storage", storage, self._sizes[block])
        self._write(".data/extern_modules", "".join(f"{name}\n" for name in self._with("extern")))
        self._write(".data/python_version", python_version())
        self._write("byteorder", sys.byteorder)
        self._writer.write_end_of_file()

    def _check(self) -> None:
        for place, rule in enumerate(self._rules):
            if not rule.allow_empty and not self._matched[place]:
                raise EmptyMatchError(
                    f"Exporter did not match any modules to {rule.group}, which was marked as "
                    "allow_empty=False"
                )
        reasons: dict[str, list[str]] = {}
        for module, reason in self._wrong.items():
            reasons.setdefault(reason, []).append(module)
        if reasons:
            if self._debug:
                print(self.dependency_graph_string())
            raise PackagingError(reasons, self._debug)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is None:
            self.close()
        else:
            self._is_closed = True
            self._writer.__exit__(kind, *exception)

    # -- what is known -----------------------------------------------------------------------------

    def _with(self, action: str) -> list[str]:
        return [name for name, chosen in self._chosen.items() if chosen == action]

    def interned_modules(self) -> list[str]:
        """Name the modules whose source is in the archive."""
        return sorted(self._with("intern"))

    def externed_modules(self) -> list[str]:
        """Name the modules that have to be there when the archive is read."""
        return sorted(self._with("extern"))

    def mocked_modules(self) -> list[str]:
        """Name the modules that are mocked out."""
        return sorted(self._with("mock"))

    def denied_modules(self) -> list[str]:
        """Name the modules that are needed and were denied."""
        return sorted(self._with("deny"))

    def get_rdeps(self, module_name: str) -> list[str]:
        """Name what needs a module."""
        return [user for user, needed in self._edges.items() if module_name in needed]

    def all_paths(self, src: str, dst: str) -> str:
        """Return the graph of all ways in which one module needs another."""
        from_there = {src, *self._reached(src, self._edges)}
        users: dict[str, dict[str, None]] = {}
        for user, needed in self._edges.items():
            for one in needed:
                users.setdefault(one, {})[user] = None
        between = from_there & {dst, *self._reached(dst, users)}
        return _graph({one: [n for n in self._edges.get(one, ()) if n in between] for one in between})

    def _reached(self, start: str, edges: dict[str, dict[str, None]]) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            for one in edges.get(waiting.pop(), ()):
                if one not in found:
                    found.add(one)
                    waiting.append(one)
        return found

    def dependency_graph_string(self) -> str:
        """Return the graph of what needs which modules, in the language of Graphviz."""
        return _graph({user: list(needed) for user, needed in self._edges.items()})


def _graph(edges: dict[str, list[str]]) -> str:
    lines = [f'"{user}" -> "{one}";' for user, needed in edges.items() for one in needed]
    return "digraph G {\nrankdir = LR;\nnode [shape=box];\n" + "\n".join(lines) + "\n}\n"
