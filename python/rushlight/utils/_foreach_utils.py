"""Tensors in groups of one device and type, as optimisers of others take them together."""

from __future__ import annotations

from typing import Any

from .._rushlight import Tensor

__all__: list[str] = []


def _get_foreach_kernels_supported_devices() -> list[str]:
    return ["cpu"]


_get_fused_kernels_supported_devices = _get_foreach_kernels_supported_devices


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Tensor | None]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]]:
    """Return lists that belong together in groups of one device and type, that of the first list."""
    groups: dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]] = {}
    for place, first in enumerate(tensorlistlist[0]):
        if first is None:
            continue
        lists, places = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for into, tensors in zip(lists, tensorlistlist, strict=True):
            if tensors:
                into.append(tensors[place])
        if with_indices:
            places.append(place)
    return groups


def _device_has_foreach_support(device: Any) -> bool:
    return bool(device.type == "cpu")


def _has_foreach_support(tensors: list[Tensor], device: Any) -> bool:
    return _device_has_foreach_support(device) and all(type(one) is Tensor for one in tensors)
