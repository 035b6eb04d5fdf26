"""Functions that look at the numbers or the memory of tensors, while a function is mapped over samples."""

from __future__ import annotations

from math import prod

from .. import _rushlight as native
from .._rushlight import Tensor

TYPE_CHECKING = False  # `typing` would take longer to import than all of this.
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn


def any_of_all(condition: Tensor) -> bool:
    """Tell whether a condition holds anywhere, in any of the samples that a tensor may stand for."""
    while native._is_batchedtensor(condition):
        condition = native._get_unwrapped(condition)
    return bool(condition.any())


def holds_for_all(condition: Tensor) -> bool:
    """Tell whether a condition holds everywhere, in all of the samples that a tensor may stand for."""
    return not any_of_all(native.logical_not(condition))


def is_any_batched(*tensors: Tensor) -> bool:
    """Tell whether one of these stands for samples."""
    return any(map(native._is_batchedtensor, tensors))


def check_storage(tensor: Tensor) -> None:
    """Refuse to look at the memory of a tensor while a function that computes with it is transformed."""
    if native._is_tracked_inside(tensor):
        raise NotImplementedError("Cannot access storage of TensorWrapper")
    if native._is_batchedtensor(tensor):
        raise NotImplementedError("Cannot access storage of BatchedTensorImpl")


def refuse(kind: str, operation: str) -> NoReturn:
    """Raise what the engine raises when it refuses an operation for this reason."""
    from .._messages.table import render

    raise render(kind, {"operation": operation})


def of_all_samples(
    operation: str,
    compute: Callable[..., Sequence[Tensor]],
    tensors: Sequence[Tensor | None],
    lead: tuple[int, ...] = (),
) -> list[Tensor]:
    """Give `compute` the samples of tensors along their first dimensions, and return its answers' as samples.

    What is not batched is one sample. `operation` is torch's name of what is computed; `lead` says how many
    samples lie along the dimensions that were put first already.
    """
    level = max((native._maybe_get_level(x) for x in tensors if x is not None), default=-1)
    if level < 0:
        rows = [x if x is None else x.reshape(prod(lead), *x.shape[len(lead) :]) for x in tensors]
        return [y.reshape((*lead, *y.shape[1:])) for y in compute(*rows)]
    pairs = [(x, None) if x is None else native._unwrap_batched(x, level) for x in tensors]
    size = next((value.shape[dim] for value, dim in pairs if value is not None and dim is not None), None)
    if size == 0:
        refuse("MappedNoSamples", operation)

    def first(value: Tensor | None, dim: int | None) -> Tensor | None:
        if value is None or size is None:
            return value
        return value.expand(size, *value.shape) if dim is None else value.movedim(dim, 0)

    def below() -> list[Tensor]:
        values = [first(value, dim) for value, dim in pairs]
        return of_all_samples(operation, compute, values, lead if size is None else (size, *lead))

    answers = native._below(level, below, ())
    return answers if size is None else [native._add_batch_dim(y, 0, level) for y in answers]
