"""Tensors on their way between devices: all are on one, where they are split, joined and handed on."""

from __future__ import annotations

from typing import Any

from ..._rushlight import Tensor, cat

__all__ = [
    "Broadcast",
    "Gather",
    "ReduceAddCoalesced",
    "Scatter",
    "broadcast",
    "broadcast_coalesced",
    "gather",
    "reduce_add",
    "reduce_add_coalesced",
    "scatter",
]


def broadcast(tensor: Tensor, devices: Any = None, *, out: Any = None) -> tuple[Tensor, ...]:
    """Return a tensor for each device."""
    return tuple(tensor for _ in devices)


def reduce_add(inputs: Any, destination: Any = None) -> Tensor:
    """Return the sum of tensors."""
    total: Tensor = inputs[0]
    for one in inputs[1:]:
        total = total + one
    return total


def broadcast_coalesced(tensors: Any, devices: Any, buffer_size: int = 10485760) -> list[list[Tensor]]:
    """Return the tensors, once for each device."""
    return [list(tensors) for _ in devices]


def reduce_add_coalesced(
    inputs: Any, destination: Any = None, buffer_size: int = 10485760
) -> tuple[Tensor, ...]:
    """Return the sums of tensors that stand at the same place in several lists."""
    return tuple(reduce_add(those, destination) for those in zip(*inputs, strict=True))


def scatter(
    tensor: Tensor, devices: Any = None, chunk_sizes: Any = None, dim: int = 0, streams: Any = None
) -> tuple[Tensor, ...]:
    """Return the parts of a tensor, one for each device, or as large as is said."""
    if chunk_sizes is None:
        return tuple(tensor.chunk(len(devices), dim))
    return tuple(tensor.split(list(chunk_sizes), dim))


def gather(tensors: Any, dim: int = 0, destination: Any = None) -> Tensor:
    """Return tensors in one. Those without dimensions become a vector."""
    if all(one.dim() == 0 for one in tensors) and dim == 0:
        import warnings

        warnings.warn(
            "Was asked to gather along dimension 0, but all input tensors were scalars; will instead "
            "unsqueeze and return a vector.",
            stacklevel=2,
        )
        tensors = [one.view(1) for one in tensors]
    return cat(list(tensors), dim)


class Scatter:
    """`scatter` by the arguments of a function of autograd: its derivative joins what was split."""

    @staticmethod
    def apply(target_gpus: Any, chunk_sizes: Any, dim: int, input: Tensor) -> tuple[Tensor, ...]:
        """Split a tensor."""
        return scatter(input, target_gpus, chunk_sizes, dim)


class Gather:
    """`gather` by the arguments of a function of autograd."""

    @staticmethod
    def apply(target_device: Any, dim: int, *inputs: Tensor) -> Tensor:
        """Join tensors."""
        return gather(inputs, dim, target_device)


class Broadcast:
    """Tensors for each device, one after another."""

    @staticmethod
    def apply(target_gpus: Any, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Return the tensors once for each device."""
        return tuple(one for _ in target_gpus for one in inputs)


class ReduceAddCoalesced:
    """Sums of tensors of several devices."""

    @staticmethod
    def apply(destination: Any, num_inputs: int, *grads: Tensor) -> tuple[Tensor, ...]:
        """Add tensors that stand at the same place of their groups."""
        groups = [grads[start : start + num_inputs] for start in range(0, len(grads), num_inputs)]
        return tuple(reduce_add(group) for group in zip(*groups, strict=True))
