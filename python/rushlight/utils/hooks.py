"""The handles that registering a hook answers, and what becomes of hooks when a tensor is pickled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._rushlight import RemovableHandle

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .._rushlight import Tensor

    Hook = TypeVar("Hook", bound=Callable[..., Any])

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Hook) -> Hook:
    """Mark a hook as one that may be left behind without a word when its tensor is pickled.

    >>> import rushlight as torch
    >>> @torch.utils.hooks.unserializable_hook
    ... def double(gradient):
    ...     return gradient * 2
    """
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Tensor) -> None:
    """Warn of hooks of `tensor` that will be left behind."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            import warnings

            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can "
                "decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )
