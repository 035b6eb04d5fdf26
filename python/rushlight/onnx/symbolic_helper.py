"""Decorators of functions that say how operators would be written: they are left as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["parse_args", "quantized_args"]


def parse_args(*arg_descriptors: str) -> Callable[[Any], Any]:
    """Return a decorator that leaves a function as it is."""

    def decorate(function: Any) -> Any:
        function._arg_descriptors = arg_descriptors
        return function

    return decorate


def quantized_args(*arg_q_descriptors: bool, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator that leaves a function as it is."""
    return lambda function: function
