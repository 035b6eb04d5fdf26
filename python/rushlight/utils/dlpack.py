"""Tensors as other libraries hand them to each other."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from .._rushlight import Tensor, from_numpy

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(IntEnum):
    """Kinds of devices, by the numbers that libraries tell each other."""

    kDLCPU = 1


_INVALID = (
    "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
    "might have already constructed a tensor from it once."
)


def check_exported(tensor: Tensor) -> None:
    """Refuse tensors that are more than the memory which another library would see."""
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if tensor.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")


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
    if stream not in (-1, None):
        raise AssertionError("stream should be None on cpu.")
    if dl_device is not None and int(dl_device[0]) != DLDeviceType.kDLCPU:
        raise RuntimeError("Found no device but the CPU")
    given = self.clone() if copy else self
    if max_version is None or max_version[0] < 1:
        return to_dlpack(given)
    # Without its version, numpy would take the memory for one that it may not write to.
    return _versioned(given, max_version)


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """Return the kind of device that the memory of this tensor is in, and its number."""
    return DLDeviceType.kDLCPU, 0


def _versioned(tensor: Tensor, max_version: Any) -> Any:
    array: Any = tensor.detach().numpy()
    try:
        return array.__dlpack__(max_version=tuple(max_version))
    except TypeError:  # An older numpy knows no versions.
        return array.__dlpack__()


class _Given:
    """A capsule, as an object that numpy would take it from."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class _Writable:
    """An array that numpy would not write to, as the memory that it is."""

    def __init__(self, array: Any) -> None:
        self._array = array
        address = array.__array_interface__["data"][0]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def to_dlpack(tensor: Tensor) -> Any:
    """Return a capsule that another library can take the memory of a tensor from, once.

    >>> import rushlight as torch
    >>> x = torch.ones(2)
    >>> torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))[0] = 5
    >>> x
    tensor([5., 1.])
    """
    array: Any = tensor.detach().numpy()
    return array.__dlpack__()


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return a tensor on the memory of another library's array, or of a capsule that it made.

    >>> import numpy
    >>> from_dlpack(numpy.ones(2))
    tensor([1., 1.], dtype=torch.float64)
    """
    import numpy

    shared: Tensor
    if isinstance(ext_tensor, Tensor):
        check_exported(ext_tensor)
        shared = ext_tensor.data
    elif isinstance(ext_tensor, numpy.ndarray):
        shared = from_numpy(ext_tensor)
    else:
        given = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Given(ext_tensor)
        try:
            array = numpy.from_dlpack(given)
        except ValueError:
            raise RuntimeError(_INVALID) from None
        shared = from_numpy(numpy.asarray(_Writable(array)))
    if device is not None:
        shared = shared.to(device)
    return shared.clone() if copy else shared
