"""Inputs that are shared out among devices, and outputs that are put together."""

from __future__ import annotations

from typing import Any

from ..._rushlight import Tensor
from ._transfers import Gather, Scatter

__all__ = ["gather", "is_namedtuple", "scatter", "scatter_kwargs"]


def is_namedtuple(obj: Any) -> bool:
    """Tell whether something is an instance of a named tuple."""
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> Any:
    """Share tensors out in nested containers, and give everything else to each device.

    >>> import rushlight as torch
    >>> torch.nn.parallel.scatter({"x": torch.arange(3), "n": 2}, ["cpu", "cpu"])
    ({'x': tensor([0, 1]), 'n': 2}, {'x': tensor([2]), 'n': 2})
    """
    shared = _scattered(inputs, target_gpus, dim)
    return tuple(shared) if isinstance(shared, list) and not isinstance(inputs, list) else shared


def _scattered(inputs: Any, devices: Any, dim: int) -> Any:
    if isinstance(inputs, Tensor):
        return list(Scatter.apply(devices, None, dim, inputs))
    if is_namedtuple(inputs) and inputs:
        return [type(inputs)(*parts) for parts in _each(inputs, devices, dim)]
    if isinstance(inputs, (tuple, list)) and inputs:
        return [type(inputs)(parts) for parts in _each(inputs, devices, dim)]
    if isinstance(inputs, dict) and inputs:
        return [
            type(inputs)(zip(inputs, parts, strict=True)) for parts in _each(inputs.values(), devices, dim)
        ]
    return [inputs for _ in devices]


def _each(values: Any, devices: Any, dim: int) -> Any:
    # As many as there is something for: tensors of few rows go to few devices.
    return zip(*(_scattered(value, devices, dim) for value in values), strict=False)


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Any, dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """Share out arguments by position and by name; whoever gets fewer of one kind gets none."""
    positional = list(_scattered(inputs, target_gpus, dim)) if inputs else []
    named = list(_scattered(kwargs, target_gpus, dim)) if kwargs else []
    count = max(len(positional), len(named))
    positional += [()] * (count - len(positional))
    named += [{}] * (count - len(named))
    return tuple(positional), tuple(named)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Put tensors together in nested containers.

    >>> import rushlight as torch
    >>> torch.nn.parallel.gather([torch.ones(1), torch.zeros(2)], "cpu")
    tensor([1., 0., 0.])
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        return Gather.apply(target_device, dim, *outputs)
    if first is None:
        return None
    if isinstance(first, dict):
        if not all(len(first) == len(one) for one in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([one[key] for one in outputs], target_device, dim)) for key in first)
    parts = (gather(list(group), target_device, dim) for group in zip(*outputs, strict=True))
    return type(first)(*parts) if is_namedtuple(first) else type(first)(parts)
