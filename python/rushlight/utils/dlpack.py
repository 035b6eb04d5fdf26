"""Tensors as other libraries hand them to each other."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor, from_capsule, strided, to_capsule

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(IntEnum):
    """Kinds of devices, by the numbers that libraries tell each other."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


# Memory that the processor sees.
_SEEN = (DLDeviceType.kDLCPU, DLDeviceType.kDLCUDAHost, DLDeviceType.kDLROCMHost)
# The latest version of the record that is known.
_VERSION = (1, 0)


def check_exported(tensor: Tensor) -> None:
    """Refuse tensors that are more than the memory which another library would see."""
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if tensor.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")
    if tensor.layout != strided:
        raise BufferError("Can't export tensors with layout other than torch.strided")
    if tensor.device.type != "cpu":
        raise BufferError(f"Cannot pack tensors on {tensor.device}")


def __dlpack__(
    self: Tensor,
    *,
    stream: Any = -1,
    max_version: Any = None,
    dl_device: Any = None,
    copy: bool | None = None,
) -> Any:
    """Return a capsule that another library can take the memory of this tensor from, once."""
    check_exported(self)
    if stream is not None and not isinstance(stream, int):
        raise TypeError("stream must be ``int`` or ``none``")
    if stream not in (-1, None):
        raise AssertionError("stream should be None on cpu.")
    if dl_device is not None and int(dl_device[0]) != DLDeviceType.kDLCPU:
        if copy is False:
            raise ValueError("cannot move tensor to another device without a copy")
        raise RuntimeError("Found no device but the CPU")
    given = self.clone() if copy else self.resolve_neg()
    is_copy = bool(copy) or given is not self
    return to_capsule(given, max_version is not None and max_version[0] >= 1, is_copy)


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """Return the kind of device that the memory of this tensor is in, and its number."""
    if self.device.type != "cpu":
        raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
    return DLDeviceType.kDLCPU, 0


def to_dlpack(tensor: Tensor) -> Any:
    """Return a capsule that another library can take the memory of a tensor from, once.

    >>> import rushlight as torch
    >>> x = torch.ones(2)
    >>> torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))[0] = 5
    >>> x
    tensor([5., 1.])
    """
    check_exported(tensor)
    return to_capsule(tensor.resolve_neg(), False, False)


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return a tensor on the memory of another library's array, or of a capsule that it made.

    >>> import numpy
    >>> from_dlpack(numpy.ones(2))
    tensor([1., 1.], dtype=torch.float64)
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError(
                "device and copy kwargs not supported when ext_tensor is already a DLPack capsule."
            )
        return from_capsule(ext_tensor)
    if isinstance(device, str):
        device = native.device(device)
    if device is not None and not isinstance(device, native.device):
        raise AssertionError(f"from_dlpack: unsupported device type: {type(device)}")
    kind, number = ext_tensor.__dlpack_device__()
    if int(kind) not in _SEEN:
        raise BufferError(f"Unsupported device_type: {int(kind)}")
    if device is None or device.type == "cpu":
        return _taken(
            ext_tensor, copy, {} if device is None else {"dl_device": (DLDeviceType.kDLCPU, number)}
        )
    if copy is False:
        raise ValueError(
            f"cannot move DLPack tensor from device {(kind, number)} to {device} without copying. "
            "Set copy=None or copy=True."
        )
    return _taken(ext_tensor, None, {}).to(device)


def _taken(source: Any, copy: bool | None, asked: dict[str, Any]) -> Tensor:
    """Return a tensor on the memory, or on a copy of it, that whoever has it makes if it knows how to."""
    if isinstance(source, Tensor):
        check_exported(source)
        return source.clone() if copy else source.data
    known = {"max_version": _VERSION, **asked, **({} if copy is None else {"copy": copy})}
    # What somebody does not know is not asked for: versions first, then copies, then devices.
    for unknown in ("max_version", "copy", "dl_device"):
        try:
            capsule = source.__dlpack__(**known)
            break
        except TypeError:
            known.pop(unknown, None)
    else:
        capsule = source.__dlpack__()
    shared = from_capsule(capsule)
    return shared.clone() if copy and "copy" not in known else shared
