"""Rooms of a package, and names from them, that load when they are first asked for.

By this name torch has what says of its lazy tensors how they fare; programs import that from the modules
inside.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any


def on_first_use(
    module: dict[str, Any],
    *,
    rooms: Collection[str] = (),
    places: Mapping[str, str] | None = None,
    families: Mapping[str, str] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a module, whose globals are `module`.

    `rooms` are modules inside of it; `places` says which names come from which module, as an import would say
    that (`{".func": "grad vmap"}`), and `families` does for all names that begin alike.
    """
    names = {name: place for place, listed in (places or {}).items() for name in listed.split()}

    def find(name: str) -> Any:
        """Import a room, or what is known from one, when it is first asked for."""
        from importlib import import_module

        if name in rooms:
            return import_module(f".{name}", module["__package__"])
        place = names.get(name)
        if place is None and families:
            place = next((place for start, place in families.items() if name.startswith(start)), None)
            if place is not None and not hasattr(import_module(place, module["__package__"]), name):
                place = None
        if place is None:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        found = module[name] = getattr(import_module(place, module["__package__"]), name)
        return found

    def all_names() -> list[str]:
        """Name what is loaded and what would load on first use."""
        return sorted({*module, *rooms, *names})

    return find, all_names
