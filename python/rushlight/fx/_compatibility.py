"""Marks of functions that stay as they are from version to version."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["compatibility"]

_T = TypeVar("_T")


def compatibility(is_backward_compatible: bool) -> Callable[[_T], _T]:
    """Return a decorator that leaves a function as it is."""

    def mark(function: _T) -> _T:
        return function

    return mark
