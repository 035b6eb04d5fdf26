"""Modules by which names are found where programs for torch look for them, beside where they live here.

`rushlight.nn.modules.linear` has `Linear`, which lives in `layers`. Such modules have no files: they are made
when their package loads, and import what somebody asks them for.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def add_module_aliases(package: dict[str, Any], places: Mapping[str, Mapping[str, str]]) -> None:
    """Make modules in a package, whose globals are `package`.

    For each of them, `places` says which names come from which module: `{"linear": {".layers": "Linear"}}`.
    `_Mixin=_Base` is a name for something that is called otherwise here. What the modules themselves have
    is found too, as one finds in torch what its modules have imported.
    """
    from importlib.machinery import ModuleSpec

    package.setdefault("__path__", [])  # It may be such a module itself.
    for short, sources in places.items():
        found = {}
        for source, names in sources.items():
            for name in names.split():
                shown, _, real = name.partition("=")
                found[shown] = source, real or shown
        name = f"{package['__name__']}.{short}"
        module = sys.modules[name] = package[short] = ModuleType(
            name, f"Where {', '.join(found)} can be found."
        )
        vars(module).update(
            __package__=package["__package__"],
            __spec__=ModuleSpec(name, None),
            __all__=[n for n in found if n[0] != "_"],
        )
        vars(module)["__getattr__"] = _finder(module, found, list(sources))
        vars(module)["__dir__"] = lambda module=module, found=found: sorted({*vars(module), *found})


def _finder(
    module: ModuleType, found: Mapping[str, tuple[str, str]], sources: Sequence[str]
) -> Callable[[str], Any]:
    def find(name: str) -> Any:
        """Import what somebody asks for."""
        from importlib import import_module

        source, real = found.get(name, (None, name))
        if source is None and name[:2] != "__":
            known = (one for one in sources if hasattr(import_module(one, module.__package__), name))
            source = next(known, None)
        if source is None:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        value = vars(module)[name] = getattr(import_module(source, module.__package__), real)
        return value

    return find


def stand_for(name: str, other: str) -> None:
    """Have a module, and those inside of it, found by another name too."""
    from importlib import import_module

    import_module(other)
    for found, module in list(sys.modules.items()):
        if found == other or found.startswith(f"{other}."):
            sys.modules[name + found[len(other) :]] = module
