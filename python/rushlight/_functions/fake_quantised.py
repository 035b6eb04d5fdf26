"""Fake quantisation: values rounded to those that few bits can hold; gradients pass straight through."""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native
from .._calls.showing import shown_as_given
from .._rushlight import Tensor
from ..autograd.grad_mode import no_grad

__all__ = ["fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"]


def _moved(values: Tensor, scale: Any, zero_point: Any, low: int, high: int) -> Tensor:
    """Round to the nearest quantised values; the gradient passes where these are within the bounds."""
    if low > high:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")
    with no_grad():
        inverse = 1.0 / scale
        steps = (values * inverse).round() + zero_point
        inside = (steps >= low) & (steps <= high)
        found: Tensor = ((steps.clamp(low, high) - zero_point) * scale).to(values.dtype)
    if not values.requires_grad or not native.is_grad_enabled():
        return found
    passed = native.where(inside, values, values.detach())
    # The value of `found` with the derivative of `passed` (the straight-through estimator).
    moved: Tensor = found + (passed - passed.detach())
    return moved


@shown_as_given
def fake_quantize_per_tensor_affine(
    input: Tensor, scale: float | Tensor, zero_point: int | Tensor, quant_min: int, quant_max: int
) -> Tensor:
    """Round to the nearest of the quantised values `scale * (n - zero_point)`.

    >>> import rushlight as torch
    >>> torch.fake_quantize_per_tensor_affine(torch.tensor([0.26, 9.0]), 0.5, 0, 0, 3)
    tensor([0.5000, 1.5000])
    """
    return _moved(input, scale, zero_point, quant_min, quant_max)


@shown_as_given
def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """Round to the nearest quantised values, of which each slice along a dimension has its own.

    >>> import rushlight as torch
    >>> x, scale, zero = torch.tensor([[0.26], [0.26]]), torch.tensor([0.5, 0.1]), torch.zeros(2)
    >>> torch.fake_quantize_per_channel_affine(x, scale, zero, 0, -8, 7)
    tensor([[0.5000],
            [0.3000]])
    """
    shape = [-1 if dim == axis else 1 for dim in range(input.dim())]
    return _moved(input, scale.view(shape), zero_point.view(shape), quant_min, quant_max)
