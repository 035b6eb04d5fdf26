"""Calls that scripts would make beside each other: they are made at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..futures import Future

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["fork", "wait"]


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Call a function, and return its value as one that can be waited for.

    >>> import rushlight as torch
    >>> torch.jit.wait(torch.jit.fork(torch.add, torch.ones(1), 1.0))
    tensor([2.])
    """
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """Return the value of a call."""
    if not isinstance(future, Future):
        raise TypeError(
            f"wait(): incompatible function arguments: expected a Future, got {type(future).__name__}"
        )
    return future.wait()
