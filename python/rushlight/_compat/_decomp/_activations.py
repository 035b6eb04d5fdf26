"""Activations, written in arithmetic."""

from __future__ import annotations

from math import sqrt
from typing import Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from ._table import aten, in_float, register_decomposition

__all__: list[str] = []

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805
# What the approximation of gelu by tanh is made of.
GELU_BETA, GELU_KAPPA = sqrt(2 / 3.141592653589793), 0.044715


@register_decomposition(aten.silu)
@in_float
def silu(self: Tensor) -> Tensor:
    return self * native.sigmoid(self)


@register_decomposition(aten.gelu)
@in_float
def gelu(self: Tensor, *, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        inner = GELU_BETA * (self + GELU_KAPPA * self * self * self)
        return 0.5 * self * (1 + native.tanh(inner))
    return self * 0.5 * (1 + native.erf(self * sqrt(0.5)))


@register_decomposition(aten.softplus)
@in_float
def softplus(self: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    scaled = self * beta
    return native.where(scaled > threshold, self, native.log1p(native.exp(scaled)) / beta)


@register_decomposition(aten.mish)
@in_float
def mish(self: Tensor) -> Tensor:
    return self * native.tanh(softplus(self))


@register_decomposition(aten.hardswish)
@in_float
def hardswish(self: Tensor) -> Tensor:
    return self * native.clamp(native.clamp(self + 3, min=0), max=6) / 6


@register_decomposition(aten.hardsigmoid)
@in_float
def hardsigmoid(self: Tensor) -> Tensor:
    return native.clamp(native.clamp(self + 3, min=0), max=6) / 6


@register_decomposition(aten.hardtanh)
def hardtanh(self: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    return native.clamp(self, min_val, max_val)


@register_decomposition(aten.leaky_relu)
@in_float
def leaky_relu(self: Tensor, negative_slope: float = 0.01) -> Tensor:
    return native.where(self > 0, self, self * negative_slope)


@register_decomposition(aten.elu)
@in_float
def elu(self: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    return native.where(self > 0, self * scale, (native.exp(self * input_scale) - 1) * (alpha * scale))


@register_decomposition(aten.celu)
@in_float
def celu(self: Tensor, alpha: float = 1.0) -> Tensor:
    return native.where(self > 0, self, alpha * native.expm1(self / alpha))


@register_decomposition(aten.selu)
@in_float
def selu(self: Tensor) -> Tensor:
    return _SELU_SCALE * native.where(self > 0, self, _SELU_ALPHA * native.expm1(self))


@register_decomposition(aten.threshold)
def threshold(self: Tensor, threshold: float, value: float) -> Tensor:
    return native.where(self <= threshold, value, self)


@register_decomposition(aten.softshrink)
@in_float
def softshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    return native.where(native.abs(self) > lambd, self - native.sign(self) * lambd, self * 0)


@register_decomposition(aten.hardshrink)
def hardshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    return native.where(native.abs(self) <= lambd, 0, self)


@register_decomposition(aten.glu)
@in_float
def glu(self: Tensor, dim: int = -1) -> Tensor:
    half = self.shape[dim] // 2
    return native.narrow(self, dim, 0, half) * native.sigmoid(native.narrow(self, dim, half, half))


@register_decomposition(aten.log_sigmoid_forward)
@in_float
def log_sigmoid_forward(self: Tensor) -> tuple[Tensor, Tensor]:
    buffer = native.exp(-native.abs(self))
    return native.clamp(self, max=0) - native.log1p(buffer), buffer


@register_decomposition(aten._prelu_kernel)
def _prelu_kernel(self: Tensor, weight: Tensor) -> Tensor:
    return native.where(self > 0, self, weight * self)


@register_decomposition(aten._softmax)
@in_float
def _softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    if not x.numel():
        return native.exp(x)
    raised = native.exp(x - native.amax(x, dim, keepdim=True))
    return raised / native.sum(raised, dim, keepdim=True)


@register_decomposition(aten._log_softmax)
@in_float
def _log_softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    if not x.numel():
        return x * 1
    shifted = x - native.amax(x, dim, keepdim=True)
    return shifted - native.log(native.sum(native.exp(shifted), dim, keepdim=True))


@register_decomposition(aten.native_dropout)
def native_dropout(input: Tensor, p: float, train: Any) -> tuple[Tensor, Tensor]:
    if not train or p == 0:
        return input, native.ones_like(input, dtype=native.bool)
    if p == 1:
        return native.zeros_like(input), native.zeros_like(input, dtype=native.bool)
    kept = native.rand_like(input) > p
    return kept * input * (1.0 / (1.0 - p)), kept
