"""Tensors as other libraries hand them to each other."""

from __future__ import annotations

from typing import Any

from .._rushlight import Tensor, from_numpy

__all__ = ["from_dlpack", "to_dlpack"]


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


def from_dlpack(ext_tensor: Any) -> Tensor:
    """Return a tensor on the memory of another library's array, or of a capsule that it made.

    >>> import numpy
    >>> from_dlpack(numpy.ones(2))
    tensor([1., 1.], dtype=torch.float64)
    """
    import numpy

    if isinstance(ext_tensor, numpy.ndarray):
        return from_numpy(ext_tensor)
    given = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Given(ext_tensor)
    return from_numpy(numpy.asarray(_Writable(numpy.from_dlpack(given))))
