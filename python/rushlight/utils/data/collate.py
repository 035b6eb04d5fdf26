"""From a list of samples to a batch of them."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

from ..._rushlight import Tensor, as_tensor, float64, stack, tensor

__all__ = ["default_collate", "default_convert"]

_TEXT = re.compile("[SaUO]")


def default_convert(data: Any) -> Any:
    """Make tensors of the arrays in a sample."""
    kind = type(data)
    if isinstance(data, Tensor):
        return data
    if kind.__module__ == "numpy":
        if kind.__name__ == "ndarray" and _TEXT.search(data.dtype.str):
            return data
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*(default_convert(value) for value in data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _sequence(data, [default_convert(value) for value in data])
    return data


def default_collate(batch: Any) -> Any:
    """Join samples into a batch: tensors are stacked, containers joined by place.

    >>> import rushlight as torch
    >>> torch.utils.data.default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ('a', 'b')]
    """
    first = batch[0]
    kind = type(first)
    if isinstance(first, Tensor):
        return stack(batch, 0)
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "string_"):
        if kind.__name__ == "ndarray":
            if _TEXT.search(first.dtype.str):
                raise _unknown(first.dtype)
            return default_collate([as_tensor(sample) for sample in batch])
        if first.shape == ():
            return as_tensor(batch)
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _mapping(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(default_collate(values) for values in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        joined = [default_collate(values) for values in zip(*batch, strict=True)]
        return joined if isinstance(first, tuple) else _sequence(first, joined)
    raise _unknown(kind)


def _unknown(kind: Any) -> TypeError:
    return TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}"
    )


def _mapping(like: Any, values: dict[Any, Any]) -> Any:
    """Return the values in a mapping of the kind of another, where that kind lets one be made."""
    try:
        if isinstance(like, MutableMapping):
            made = copy.copy(like)
            made.update(values)
            return made
        return type(like)(values)
    except TypeError:
        return values


def _sequence(like: Any, values: list[Any]) -> Any:
    """Return the values in a sequence of the kind of another, where that kind lets one be made."""
    try:
        if isinstance(like, MutableSequence):
            made = copy.copy(like)
            made[:] = values
            return made
        return type(like)(values)
    except TypeError:
        return values
