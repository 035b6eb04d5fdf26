"""Functions that look at the numbers of tensors, while a function is mapped over samples."""

from __future__ import annotations

from . import _rushlight as native
from ._rushlight import Tensor

TYPE_CHECKING = False  # `typing` would take longer to import than all of this.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


def any_of_all(condition: Tensor) -> bool:
    """Tell whether a condition holds anywhere, in any of the samples that a tensor may stand for."""
    while native._is_batchedtensor(condition):
        condition = native._get_unwrapped(condition)
    return bool(condition.any())


def check_mapped(operation: str, *arguments: Any, fallback: bool = True) -> None:
    """Refuse what torch has no rule for while a function is mapped.

    With `fallback` torch runs the operation for one sample after the other: then there has to be one.
    """
    if not native._vmap_nesting():
        return
    batched = [tensor for tensor in arguments if isinstance(tensor, Tensor) and _is_batched(tensor)]
    if batched and not fallback:
        raise RuntimeError(
            f"Batching rule not implemented for aten::{operation}. We could not generate a fallback."
        )
    if any(_is_of_none(tensor) for tensor in batched):
        raise _no_samples(operation)


def _is_batched(tensor: Tensor) -> bool:
    return native._is_batchedtensor(tensor)


def _is_of_none(tensor: Tensor) -> bool:
    while _is_batched(tensor):
        tensor, dim = native._unwrap_batched(tensor, native._maybe_get_level(tensor))
        if dim is not None and tensor.shape[dim] == 0:
            return True
    return False


def _no_samples(operation: str) -> RuntimeError:
    return RuntimeError(
        f"Batching rule not implemented for aten::{operation}. The fallback path does not support vmap over "
        "dims of size 0."
    )


def sample_by_sample(operation: str) -> Callable[[F], F]:
    """Run a function for one sample after the other while it is mapped: what it does depends on numbers.

    `operation` is torch's name of it in messages.
    """

    def decorate(function: Any) -> Any:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if native._vmap_nesting():
                return _for_each(operation, wrapper, function, args, kwargs)
            return function(*args, **kwargs)

        # As `functools.wraps` does, which would take longer to import than all of this.
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(wrapper, name, getattr(function, name))
        vars(wrapper)["__wrapped__"] = function
        return wrapper

    return decorate


def _for_each(operation: str, again: Any, function: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    from .utils._pytree import tree_flatten, tree_unflatten

    leaves, spec = tree_flatten((args, kwargs))
    level = max((native._maybe_get_level(leaf) for leaf in leaves if isinstance(leaf, Tensor)), default=-1)
    if level < 0:
        return function(*args, **kwargs)
    pairs = [
        native._unwrap_batched(leaf, level) if isinstance(leaf, Tensor) else (leaf, None) for leaf in leaves
    ]
    size = next((value.shape[dim] for value, dim in pairs if dim is not None), 1)
    if size == 0:
        raise _no_samples(operation)

    def sample(index: int) -> Any:
        parts = [value if dim is None else value.select(dim, index) for value, dim in pairs]
        args, kwargs = tree_unflatten(parts, spec)
        return again(*args, **kwargs)

    results = [tree_flatten(native._below(level, sample, (index,))) for index in range(size)]
    columns = zip(*(result for result, _ in results), strict=True)
    shared = all(dim is None for _, dim in pairs)
    stacked = [
        column[0]
        if shared
        else native._add_batch_dim(native._below(level, native.stack, (column,)), 0, level)
        for column in columns
    ]
    return tree_unflatten(stacked, results[0][1])
