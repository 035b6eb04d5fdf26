"""Weights of convolutions in another order in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ..._rushlight import memory_format as MemoryFormat
from ..modules import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

if TYPE_CHECKING:
    from ..modules.module import Module

    AnyModule = TypeVar("AnyModule", bound=Module)

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: AnyModule, memory_format: MemoryFormat) -> AnyModule:
    """Put the weights of all convolutions of images into an order; nothing else changes.

    >>> import rushlight as torch
    >>> conv = torch.nn.Conv2d(2, 2, 2)
    >>> torch.nn.utils.convert_conv2d_weight_memory_format(conv, torch.channels_last).weight.stride()
    (8, 1, 4, 2)
    """
    return _converted(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: AnyModule, memory_format: MemoryFormat) -> AnyModule:
    """Put the weights of all convolutions of volumes into an order; nothing else changes."""
    return _converted(module, memory_format, (Conv3d, ConvTranspose3d))


def _converted(module: AnyModule, memory_format: MemoryFormat, kinds: tuple[type, ...]) -> AnyModule:
    for part in module.modules():
        if isinstance(part, kinds):
            part.weight.data = part.weight.detach().clone(memory_format=memory_format)
    return module
