"""What programs tell the compiler, and ask it: see `compile`.

>>> import rushlight as torch
>>> torch.compiler.is_compiling()
False
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._calls.compiled import compile
from .._lazy import on_first_use

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "explain",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "repeat",
    "reset",
]


__getattr__, __dir__ = on_first_use(globals(), places={".explanation": "explain", ".repetition": "repeat"})


def is_compiling() -> bool:
    """Tell whether a function is being compiled: never."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def allow_in_graph(fn: Any) -> Any:
    """Return the function, which is called as it is."""
    return fn


assume_constant_result = allow_in_graph


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return the function, which is not compiled; without one, a decorator."""

    def same(function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    return same if fn is None else fn


def reset() -> None:
    """Forget what was recorded of all functions."""
    from .function import Function

    for function in list(Function.all):
        function.forget()


def cudagraph_mark_step_begin() -> None:
    """Say that a step begins."""
