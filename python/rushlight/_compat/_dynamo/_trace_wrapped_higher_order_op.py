"""Functions that the compiler of torch keeps apart: they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._devices.absent import Switch

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TransformGetItemToIndex", "trace_wrapped"]


def trace_wrapped(*args: Any, fn: Callable[..., Any], **kwargs: Any) -> Any:
    """Call a function."""
    return fn(*args, **kwargs)


class TransformGetItemToIndex(Switch):
    """A block in which tensors without dimensions index others in mapped functions, as they do anyway.

    >>> import rushlight as torch
    >>> from rushlight._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
    >>> table = torch.tensor([5, 6, 7])
    >>> with TransformGetItemToIndex():
    ...     torch.vmap(lambda place: table[place])(torch.tensor([2, 0]))
    tensor([7, 5])
    """

    def __init__(self) -> None:
        super().__init__()
