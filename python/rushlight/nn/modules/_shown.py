"""How modules and their arguments are called: in their text, and where arguments are refused."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeVar

    from .module import Module

    Kind = TypeVar("Kind", bound=type[Module])


def shown(module: Module, *names: str) -> str:
    """Return attributes of `module` as the arguments that they came from."""
    return ", ".join(f"{name}={getattr(module, name)}" for name in names)


def constructed_by_name(kind: Kind) -> Kind:
    """Decorate a class that inherits its constructor, so that arguments are missed in its own name."""
    inherited: Any = kind.__init__
    own: Any = FunctionType(
        inherited.__code__, inherited.__globals__, "__init__", inherited.__defaults__, inherited.__closure__
    )
    own.__kwdefaults__, own.__annotations__ = inherited.__kwdefaults__, inherited.__annotations__
    own.__module__, own.__qualname__ = kind.__module__, f"{kind.__qualname__}.__init__"
    kind.__init__ = own  # type: ignore[method-assign]
    return kind
