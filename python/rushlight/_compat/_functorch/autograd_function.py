"""Functions with rules of their own, inside of transforms."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...autograd.batched_function import VmapInfo, _two
from ...autograd.function import Function
from .._C._functorch import (
    get_single_level_autograd_function_allowed,
    set_single_level_autograd_function_allowed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "VmapInfo",
    "custom_function_call",
    "enable_single_level_autograd_function",
    "has_overridden_vmap_rule",
    "validate_vmap_returns_tuple_of_two_elements",
]


class _CustomFunctionCall:
    """Calls a function with rules of its own, as its `apply` does."""

    __name__ = "custom_function_call"

    def __call__(self, autograd_function: type[Function], *args: Any, **kwargs: Any) -> Any:
        return autograd_function.apply(*args, **kwargs)

    def __repr__(self) -> str:
        return self.__name__


custom_function_call: Callable[..., Any] = _CustomFunctionCall()


@contextmanager
def enable_single_level_autograd_function() -> Iterator[None]:
    """In the block, functions of a single level may be called inside of transforms."""
    before = get_single_level_autograd_function_allowed()
    set_single_level_autograd_function_allowed(True)
    try:
        yield
    finally:
        set_single_level_autograd_function_allowed(before)


def has_overridden_vmap_rule(autograd_function: type[Function]) -> bool:
    """Tell whether a function computes many samples by a rule of its own."""
    return autograd_function.vmap is not Function.vmap


def validate_vmap_returns_tuple_of_two_elements(result: Any) -> None:
    """Refuse what is no answer of such a rule: results, and where the samples lie in them."""
    _two(result)
