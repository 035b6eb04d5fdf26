"""Copies of a module for several devices, which share its parameters."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..modules.module import Module

__all__ = ["replicate"]


def replicate(network: Module, devices: Any, detach: bool = False) -> list[Module]:
    """Return a copy of a module for each device: other modules, with the same parameters and buffers.

    >>> import rushlight as torch
    >>> linear = torch.nn.Linear(2, 1)
    >>> one, two = torch.nn.parallel.replicate(linear, ["cpu", "cpu"])
    >>> one is two, one.weight is two.weight
    (False, True)
    """
    tensors = [*network.parameters(), *network.buffers()]
    return [
        copy.deepcopy(network, {id(tensor): _shared(tensor, detach) for tensor in tensors}) for _ in devices
    ]


def _shared(tensor: Any, detach: bool) -> Any:
    return tensor.detach() if detach else tensor
