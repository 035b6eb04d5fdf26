"""How rushlight stands in for torch: one module under two names, and names that say torch.

A finder answers imports of `torch` and of what is in it with the modules of the package; whatever module of
the package is loaded is known by both names before it runs, so that none is loaded twice.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._files.torch_names import is_of_torch, is_own, own_module, torch_module, torch_place
from . import Alias, inner_home

if TYPE_CHECKING:
    from collections.abc import Sequence

# Packages of torch's distribution that are no part of `torch`.
_BESIDE = {
    "functorch": "rushlight._compat.old_functorch",
    "functorch.compile": "rushlight._compat._functorch.aot_autograd",
    "functorch.experimental": "rushlight._compat.old_experiments",
    "functorch.experimental.control_flow": "rushlight._compat.old_experiments.control_flow",
}


def begin(package: ModuleType) -> None:
    """Let torch mean this package."""
    from ..torch_version import __version__

    vars(package)["__version__"] = __version__
    sys.meta_path.insert(0, _Finder())
    for name, module in list(sys.modules.items()):
        if is_own(name) and module is not None:
            sys.modules[torch_module(name)] = module
            _say_torch(name, module)


class _Finder:
    """Finds modules by torch's names, and has those of the package say torch when they are loaded."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        """Return how a module is loaded, if it is ours."""
        if not is_own(name):
            return found_for_torch(name)
        if inner_home(name) is not None:
            return None
        found = PathFinder.find_spec(name, path)
        if found is not None and found.loader is not None:
            _load_under_both_names(found)
        return found

    def invalidate_caches(self) -> None:
        """Forget nothing: nothing is remembered."""


def found_for_torch(name: str) -> ModuleSpec | None:
    """Return how a module of torch is loaded, which is one of ours."""
    own = own_module(name) if is_of_torch(name) else _BESIDE.get(name)
    if own is None:
        return None
    module = sys.modules.get(own)
    try:
        found = getattr(module, "__spec__", None) if module is not None else find_spec(own)
    except ModuleNotFoundError:  # Its package is not there: the import system says so, by torch's name.
        return None
    if found is None and module is None:
        return None
    spec = ModuleSpec(name, _Loader(own), origin=getattr(found, "origin", None))  # type: ignore[arg-type]
    spec.submodule_search_locations = getattr(found, "submodule_search_locations", None)
    return spec


class _Loader(Alias):
    """Loads the module of the package in the place of one of torch."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the real module in its place; what is beside torch is called as there."""
        super().exec_module(module)
        if module.__name__ in _BESIDE:
            sys.modules[module.__name__].__name__ = module.__name__


def _load_under_both_names(spec: ModuleSpec) -> None:
    """Have the module that this specification describes say torch when it has been loaded."""
    loader: Any = spec.loader
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        other = torch_module(spec.name)
        sys.modules[other] = module
        try:
            run(module)
        except BaseException:
            sys.modules.pop(other, None)
            raise
        loaded = sys.modules[other] = sys.modules[spec.name]
        # A module that another takes the place of (`torch.torch`: the package) does not name it.
        if loaded is module:
            _say_torch(spec.name, loaded)

    loader.exec_module = exec_module


def _say_torch(name: str, module: ModuleType) -> None:
    """Let a module, and the classes and functions in it, say that they are torch's."""
    for thing in list(vars(module).values()):
        if isinstance(thing, ModuleType) and thing.__name__.startswith(f"{name}."):
            # It was made without being imported.
            other = torch_module(thing.__name__)
            if sys.modules.setdefault(other, thing) is thing:
                _say_torch(thing.__name__, thing)
            continue
        home = getattr(thing, "__module__", None)
        if is_own(home) and callable(thing):
            # Instances have the module of their class, and cannot have another.
            with suppress(AttributeError, TypeError):
                thing.__module__ = place = torch_place(str(home), thing.__qualname__)
                _lend(module, place)
    module.__name__ = torch_module(name)


def _lend(module: ModuleType, place: str) -> None:
    """Give the module in which torch has a class the names that the hints of the class speak of."""
    other = sys.modules.get(place)
    if other is not None and other is not module and getattr(other.__spec__, "loader", None) is None:
        for name, thing in vars(module).items():
            if not name.startswith("__"):
                vars(other).setdefault(name, thing)
