"""Derivatives of activations and losses, written in arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from ._activations import GELU_BETA, GELU_KAPPA, softplus
from ._losses import MEAN
from ._table import aten, in_float, register_decomposition

__all__: list[str] = []


@register_decomposition(aten.sigmoid_backward)
@in_float
def sigmoid_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    return grad_output * (output * (1 - output))


@register_decomposition(aten.tanh_backward)
@in_float
def tanh_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    return grad_output * (1 - output * output)


@register_decomposition(aten.threshold_backward)
def threshold_backward(grad_output: Tensor, self: Tensor, threshold: float) -> Tensor:
    return native.where(self <= threshold, 0, grad_output)


@register_decomposition(aten.silu_backward)
@in_float
def silu_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    sigmoid = native.sigmoid(self)
    return grad_output * sigmoid * (1 + self * (1 - sigmoid))


@register_decomposition(aten.gelu_backward)
@in_float
def gelu_backward(grad: Tensor, self: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        tanh = native.tanh(GELU_BETA * (self + GELU_KAPPA * self * self * self))
        slope = (1 - tanh * tanh) * GELU_BETA * (1 + 3 * GELU_KAPPA * self * self)
        return grad * (0.5 * (1 + tanh) + 0.5 * self * slope)
    below = 0.5 * (1 + native.erf(self * sqrt(0.5)))
    density = native.exp(self * self * -0.5) * (0.5 * sqrt(2 / 3.141592653589793))
    return grad * (below + self * density)


@register_decomposition(aten.mish_backward)
@in_float
def mish_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    tanh, sigmoid = native.tanh(softplus(self)), native.sigmoid(self)
    return grad_output * (tanh + self * sigmoid * (1 - tanh * tanh))


@register_decomposition(aten.softplus_backward)
@in_float
def softplus_backward(grad_output: Tensor, self: Tensor, beta: float, threshold: float) -> Tensor:
    raised = native.exp(self * beta)
    return native.where(self * beta > threshold, grad_output, grad_output * raised / (raised + 1.0))


@register_decomposition(aten.hardtanh_backward)
def hardtanh_backward(grad_output: Tensor, self: Tensor, min_val: float, max_val: float) -> Tensor:
    return native.where((self <= min_val) | (self >= max_val), 0.0, grad_output)


@register_decomposition(aten.hardsigmoid_backward)
def hardsigmoid_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    return native.where((self > -3.0) & (self < 3.0), grad_output * (1 / 6), 0.0)


@register_decomposition(aten.hardswish_backward)
@in_float
def hardswish_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    within = native.where(self < 3, grad_output * (self / 3 + 0.5), grad_output)
    return native.where(self <= -3, 0.0, within)


@register_decomposition(aten.leaky_relu_backward)
@in_float
def leaky_relu_backward(
    grad_output: Tensor, self: Tensor, negative_slope: float, self_is_result: bool
) -> Tensor:
    return native.where(self > 0, grad_output, grad_output * negative_slope)


@register_decomposition(aten.elu_backward)
@in_float
def elu_backward(
    grad_output: Tensor,
    alpha: float,
    scale: float,
    input_scale: float,
    is_result: bool,
    self_or_result: Tensor,
) -> Tensor:
    if is_result:
        below = grad_output * input_scale * (self_or_result + alpha * scale)
    else:
        below = grad_output * (input_scale * alpha * scale) * native.exp(self_or_result * input_scale)
    return native.where(self_or_result <= 0, below, grad_output * scale)


@register_decomposition(aten.log_sigmoid_backward)
@in_float
def log_sigmoid_backward(grad_output: Tensor, self: Tensor, buffer: Tensor) -> Tensor:
    return grad_output * native.sigmoid(-self)


@register_decomposition(aten.logit_backward)
@in_float
def logit_backward(grad_output: Tensor, self: Tensor, eps: float | None = None) -> Tensor:
    low, outside = (0.0, float("nan")) if eps is None else (eps, 0.0)
    slope = grad_output / (self * (1.0 - self))
    return native.where((self >= low) & (self <= 1.0 - low), slope, outside)


@register_decomposition(aten.glu_backward)
@in_float
def glu_backward(grad_output: Tensor, self: Tensor, dim: int) -> Tensor:
    half = self.shape[dim] // 2
    one, sigmoid = native.narrow(self, dim, 0, half), native.sigmoid(native.narrow(self, dim, half, half))
    return native.cat([sigmoid * grad_output, (1.0 - sigmoid) * sigmoid * grad_output * one], dim=dim)


@register_decomposition(aten._softmax_backward_data)
@in_float
def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    weighted = grad_output * output
    return weighted - output * native.sum(weighted, dim, keepdim=True)


@register_decomposition(aten._log_softmax_backward_data)
@in_float
def _log_softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    return grad_output - native.exp(output) * native.sum(grad_output, dim, keepdim=True)


@register_decomposition(aten.native_dropout_backward)
@in_float
def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    return grad_output * (mask.to(grad_output.dtype) * scale)


@register_decomposition(aten.select_backward)
def select_backward(grad_output: Tensor, input_sizes: Sequence[int], dim: int, index: int) -> Tensor:
    return native.select_scatter(grad_output.new_zeros(input_sizes), grad_output, dim, index)


@register_decomposition(aten.slice_backward)
def slice_backward(
    grad_output: Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> Tensor:
    return native.slice_scatter(grad_output.new_zeros(input_sizes), grad_output, dim, start, end, step)


@register_decomposition(aten.mse_loss_backward)
@in_float
def mse_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    return (2.0 / self.numel() if reduction == MEAN else 2.0) * (self - target) * grad_output


@register_decomposition(aten.smooth_l1_loss_backward)
@in_float
def smooth_l1_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float
) -> Tensor:
    share = 1.0 / self.numel() if reduction == MEAN else 1.0
    apart, scaled = self - target, share * grad_output
    return native.where(native.abs(apart) < beta, scaled * apart / beta, scaled * native.sign(apart))


@register_decomposition(aten.huber_loss_backward)
@in_float
def huber_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float
) -> Tensor:
    share = 1.0 / self.numel() if reduction == MEAN else 1.0
    return share * grad_output * native.clamp(self - target, -delta, delta)


@register_decomposition(aten.binary_cross_entropy_backward)
@in_float
def binary_cross_entropy_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN
) -> Tensor:
    slope = grad_output * (self - target) / native.clamp(self * (1 - self), min=1e-12)
    slope = slope if weight is None else slope * weight
    return slope / self.numel() if reduction == MEAN else slope


@register_decomposition(aten.embedding_dense_backward)
@in_float
def embedding_dense_backward(
    grad_output: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    rows = indices.reshape(-1)
    flat = grad_output.reshape((rows.shape[0], -1))
    if scale_grad_by_freq:
        counts = native.index_add(flat.new_zeros((num_weights,)), 0, rows, native.ones_like(flat[:, 0]))
        flat = flat / counts[rows][:, None]
    flat = native.where((rows == padding_idx)[:, None], 0, flat)
    return native.index_add(flat.new_zeros((num_weights, flat.shape[1])), 0, rows, flat)
