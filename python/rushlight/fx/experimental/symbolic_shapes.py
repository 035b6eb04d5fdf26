"""Questions about sizes that a compiler does not know yet: here each is a number, and the answer is known."""

from __future__ import annotations

from typing import Any

__all__ = ["GuardOnDataDependentSymNode"]


class GuardOnDataDependentSymNode(RuntimeError):
    """An answer would depend on numbers that are not known."""


def _known(value: Any, *default: Any) -> bool:
    return bool(value)


guard_or_false = guard_or_true = statically_known_true = guard_bool = guard_size_oblivious = _known
guard_scalar = definitely_true = _known


def definitely_false(value: Any) -> bool:
    """Return whether something is false."""
    return not value


def statically_known_false(value: Any) -> bool:
    """Return whether something is false."""
    return not value


def sym_eq(one: Any, other: Any) -> bool:
    """Return whether two sizes, or two shapes, are equal."""
    return bool(one == other)


def hint_int(value: Any, fallback: int | None = None) -> int:
    """Return a size."""
    return int(value)


def free_symbols(value: Any) -> set[Any]:
    """Return the sizes that are not known: none."""
    return set()


free_unbacked_symbols = free_symbols


def has_free_symbols(value: Any) -> bool:
    """Tell whether a size is not known."""
    return False


has_free_unbacked_symbols = has_free_symbols


def is_concrete_int(value: Any) -> bool:
    """Tell whether a size is a number."""
    return isinstance(value, int)


def is_symbolic(value: Any) -> bool:
    """Tell whether a size is not known."""
    return False


class ShapeEnv:
    """Where a compiler keeps what it knows of sizes that are not known: here all are, and it stays empty."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.guards: list[Any] = []
        self.var_to_val: dict[Any, Any] = {}

    def format_guards(self, verbose: bool = False) -> str:
        """Return what has been assumed of sizes: nothing."""
        return ""
