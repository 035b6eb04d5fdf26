"""Classes of tensors that say that they may be made in recorded models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["mark_subclass_constructor_exportable_experimental"]


def mark_subclass_constructor_exportable_experimental(constructor_subclass: Callable[..., Any]) -> Any:
    """Say it of the `__init__` of a class. Models are recorded by running them: they contain what it does."""
    if getattr(constructor_subclass, "__name__", None) != "__init__":
        raise RuntimeError(
            "torch._export.wrappers.mark_constructor_exportable_experimental can only be applied on subclass "
            f"tensor.__init__, not on {getattr(constructor_subclass, '__name__', constructor_subclass)}"
        )
    return constructor_subclass
