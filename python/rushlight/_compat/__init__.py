"""torch's inner names, which programs and libraries reach for. Nothing else of the package needs them.

`rushlight._C` and its like live here and are found by torch's names: both are one module.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_PACKAGE, _HERE = "rushlight", "rushlight._compat"

# What torch has directly in its package.
INNER_NAMES = frozenset(
    (
        "_C",
        "_VF",
        "_custom_op",
        "_custom_ops",
        "_decomp",
        "_dynamo",
        "_export",
        "_functorch",
        "_guards",
        "_higher_order_ops",
        "_inductor",
        "_jit_internal",
        "_library",
        "_linalg_utils",
        "_logging",
        "_prims",
        "_prims_common",
        "_refs",
        "_subclasses",
        "_utils_internal",
        "_vendor",
        "_vmap_internals",
    )
)


def inner_home(name: str) -> str | None:
    """Return the name by which such a module lives here, if it is one.

    >>> from rushlight._compat import inner_home
    >>> inner_home("rushlight._C._functorch"), inner_home("rushlight.nn")
    ('rushlight._compat._C._functorch', None)
    """
    if not name.startswith("rushlight._"):
        return None
    _, first, *rest = name.split(".")
    return ".".join((_HERE, first, *rest)) if first in INNER_NAMES else None


def outer_name(name: str) -> str:
    """Return the name by which programs know a module of the package.

    >>> from rushlight._compat import outer_name
    >>> outer_name("rushlight._compat._C._functorch")
    'rushlight._C._functorch'
    """
    inner = name[len(_HERE) + 1 :] if name.startswith(f"{_HERE}.") else ""
    return f"{_PACKAGE}.{inner}" if inner.partition(".")[0] in INNER_NAMES else name


class Alias:
    """Loads a module under a second name."""

    def __init__(self, own: str) -> None:
        self.own = own

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system to make a module, which nobody will see."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the real module in the place of the one that was made."""
        from importlib import import_module

        real = sys.modules[module.__name__] = import_module(self.own)
        real.__name__ = outer_name(real.__name__)  # As classes say that are in it.

    def get_code(self, name: str) -> Any:
        """Return what runs if the module is the program."""
        from importlib.util import find_spec

        found = find_spec(self.own)
        return None if found is None else found.loader.get_code(self.own)  # type: ignore[union-attr]


def _torch_by_hand(name: str) -> ModuleSpec | None:
    """Begin to stand in for torch where a program has put the package in its place by hand.

    Its folders would be searched, otherwise, and all in them loaded a second time.
    """
    if not name.startswith("torch.") or sys.modules.get("torch") is not sys.modules[_PACKAGE]:
        return None
    from ..as_torch import activate

    activate()
    from . import torch_alias

    return torch_alias.found_for_torch(name)


class _Finder:
    """Finds the inner names. It is asked first: the folder of a package would be searched again."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return how a module is loaded, if it is one of these."""
        home = inner_home(name)
        if home is None:
            return _torch_by_hand(name)
        from importlib.machinery import ModuleSpec
        from importlib.util import find_spec

        found = find_spec(home)
        if found is None:
            return None
        spec = ModuleSpec(name, Alias(home), origin=found.origin)  # type: ignore[arg-type]
        spec.submodule_search_locations = found.submodule_search_locations
        return spec

    def invalidate_caches(self) -> None:
        """Forget nothing: nothing is remembered."""


def be_found() -> None:
    """Have imports find the inner names."""
    sys.meta_path.insert(0, _Finder())
