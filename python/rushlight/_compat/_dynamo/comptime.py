"""What would be called while a function is compiled: nothing is compiled, and nothing called."""

from __future__ import annotations

from typing import Any

__all__ = ["comptime"]


class _Comptime:
    """Called with a function that the compiler would call, or asked to print something."""

    def __call__(self, fn: Any, fallback_fn: Any = None) -> None:
        """Call what is called where nothing is compiled."""
        if fallback_fn is not None:
            fallback_fn()

    @staticmethod
    def print(e: Any) -> None:
        """Print a value."""
        print(e)

    @staticmethod
    def breakpoint() -> None:
        """Stop while compiling: never."""

    print_graph = print_disas = print_bt = print_locals = print_guards = breakpoint


comptime = _Comptime()
