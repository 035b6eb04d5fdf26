"""From a list of samples to a batch of them."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy

from ..._rushlight import Tensor, as_tensor, float64, stack, tensor

__all__ = ["default_collate", "default_convert"]

np_str_obj_array_pattern = re.compile("[SaUO]")
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def default_convert(data: Any) -> Any:
    """Make tensors of the arrays in a sample."""
    kind = type(data)
    if isinstance(data, Tensor):
        return data
    if kind.__module__ == "numpy":
        if kind.__name__ == "ndarray" and np_str_obj_array_pattern.search(data.dtype.str):
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


def collate(batch: Any, *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> Any:
    """Join samples into a batch by the functions that a table has for their classes; containers by place.

    >>> import rushlight as torch
    >>> from rushlight.utils.data._utils.collate import collate
    >>> collate([(1, 2), (3, 4)], collate_fn_map={int: lambda batch, collate_fn_map: sum(batch)})
    [4, 6]
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        join = collate_fn_map.get(kind)
        if join is None:
            join = next((made for asked, made in collate_fn_map.items() if isinstance(first, asked)), None)
        if join is not None:
            return join(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        joined = {
            key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map) for key in first
        }
        return _mapping(first, joined)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        parts = zip(*batch, strict=True)
        return kind(*(collate(values, collate_fn_map=collate_fn_map) for values in parts))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = zip(*batch, strict=True)
        made = [collate(values, collate_fn_map=collate_fn_map) for values in parts]
        return made if isinstance(first, tuple) else _sequence(first, made)
    raise _unknown(kind)


def pin_memory(data: Any, device: Any = None) -> Any:
    """Have everything in a batch pin its memory that can; on which device is not asked for any longer.

    >>> import rushlight as torch
    >>> torch.utils.data._utils.pin_memory.pin_memory([1, {"a": "b"}])
    [1, {'a': 'b'}]
    """
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, Mapping):
        return _mapping(data, {key: pin_memory(value) for key, value in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        pinned = [pin_memory(value) for value in data]
        return type(data)(*pinned) if hasattr(data, "_fields") else _sequence(data, pinned)
    return data


def default_collate(batch: Any) -> Any:
    """Join samples into a batch: tensors are stacked, containers joined by place.

    >>> import rushlight as torch
    >>> torch.utils.data.default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ('a', 'b')]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate_tensor_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    """Stack tensors."""
    return stack(batch, 0)


def collate_float_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    """Make a tensor of numbers, in double precision."""
    return tensor(batch, dtype=float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    """Make a tensor of integers."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Leave texts as they are."""
    return batch


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Stack arrays as tensors; those of texts and objects cannot be."""
    if np_str_obj_array_pattern.search(batch[0].dtype.str):
        raise _unknown(batch[0].dtype)
    return collate([as_tensor(sample) for sample in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    """Make a tensor of numpy's numbers."""
    return as_tensor(batch)


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: collate_tensor_fn,
    numpy.ndarray: collate_numpy_array_fn,
    (numpy.bool_, numpy.number, numpy.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def _unknown(kind: Any) -> TypeError:
    return TypeError(default_collate_err_msg_format.format(kind))


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
