"""Which CUDA device is meant, and what every call that needs one says."""

from __future__ import annotations

from typing import Any

from .._rushlight import device as _device

NO_DEVICE = "Torch not compiled with CUDA enabled"


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """Return the number of a device that is named somehow.

    >>> from rushlight.cuda._utils import _get_device_index
    >>> _get_device_index("cuda:1"), _get_device_index(0)
    (1, 0)
    """
    if isinstance(device, int):
        return device
    named = _device(device) if isinstance(device, str) else device
    if isinstance(named, _device):
        if named.type == "cpu" and allow_cpu:
            return -1
        if named.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {named}")
        if named.index is not None:
            return named.index
    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    raise AssertionError(NO_DEVICE)


class device:
    """A block on another device: an error when it begins, unless it is none that is meant (-1)."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _get_device_index(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            raise AssertionError(NO_DEVICE)

    def __exit__(self, *exception: object) -> None:
        pass


class device_of(device):
    """A block on the device of a tensor, which is here already."""

    def __init__(self, obj: Any) -> None:
        super().__init__(-1)
