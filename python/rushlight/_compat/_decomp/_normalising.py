"""Layers that make the mean 0 and the variance 1, written in arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

from ... import _rushlight as native
from ..._operators.gradients import layer_norm
from ..._rushlight import Tensor
from ._table import aten, in_float, register_decomposition

__all__: list[str] = []


def _normal(x: Tensor, dims: list[int], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    variance, mean = native.var_mean(x, dim=dims, correction=0, keepdim=True)
    inverse = native.rsqrt(variance + eps)
    return (x - mean) * inverse, mean, inverse


@register_decomposition(aten.native_layer_norm)
@in_float
def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    dims = list(range(input.ndim - len(normalized_shape), input.ndim))
    found, mean, inverse = _normal(input, dims, eps)
    found = found if weight is None else found * weight
    return found if bias is None else found + bias, mean, inverse


@register_decomposition(aten.native_group_norm)
@in_float
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    found, mean, inverse = _normal(native.reshape(input, (N, group, C // group, HxW)), [2, 3], eps)
    found = native.reshape(found, input.shape)
    found = found if weight is None else found * _of_channels(weight, input.ndim)
    found = found if bias is None else found + _of_channels(bias, input.ndim)
    return found, native.squeeze(mean, (2, 3)), native.squeeze(inverse, (2, 3))


@register_decomposition(aten.native_batch_norm)
@in_float
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    dims = [0, *range(2, input.ndim)]
    if training:
        found, mean, inverse = _normal(input, dims, eps)
        count = input.numel() / input.shape[1]
        if running_mean is not None:
            running_mean.copy_(momentum * native.squeeze(mean, dims) + (1 - momentum) * running_mean)
        if running_var is not None:
            variance = native.var(input, dims, correction=0) * (count / (count - 1))
            running_var.copy_(momentum * variance + (1 - momentum) * running_var)
        saved = native.squeeze(mean, dims), native.squeeze(inverse, dims)
    else:
        assert running_mean is not None and running_var is not None
        inverse = _of_channels(native.rsqrt(running_var + eps), input.ndim)
        found = (input - _of_channels(running_mean, input.ndim)) * inverse
        saved = input.new_zeros((0,)), input.new_zeros((0,))
    found = found if weight is None else found * _of_channels(weight, input.ndim)
    return found if bias is None else found + _of_channels(bias, input.ndim), *saved


def _of_channels(one: Tensor, ndim: int) -> Tensor:
    return native.reshape(one, [1, -1, *[1] * (ndim - 2)])


native_layer_norm_backward = register_decomposition(aten.native_layer_norm_backward)(in_float(layer_norm))
