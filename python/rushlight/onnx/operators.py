"""Functions that are written otherwise than they are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._functions.native_functions import _shape_as_tensor

if TYPE_CHECKING:
    from .._rushlight import Tensor

__all__ = ["reshape_from_tensor_shape", "shape_as_tensor"]


def shape_as_tensor(x: Tensor) -> Tensor:
    """Return the sizes of a tensor, as a tensor.

    >>> import rushlight as torch
    >>> torch.onnx.operators.shape_as_tensor(torch.ones(2, 3))
    tensor([2, 3])
    """
    return _shape_as_tensor(x)


def reshape_from_tensor_shape(x: Tensor, shape: Tensor) -> Tensor:
    """Return a tensor in a shape that a tensor says."""
    return x.reshape(shape.tolist())
