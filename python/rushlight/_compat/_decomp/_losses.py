"""Losses, written in arithmetic. How they are reduced is a number: not at all, to the mean, to the sum."""

from __future__ import annotations

from ... import _rushlight as native
from ..._rushlight import Tensor
from ._table import aten, in_float, register_decomposition

__all__: list[str] = []

MEAN, SUM = 1, 2


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    if reduction == MEAN:
        return native.mean(loss)
    return native.sum(loss) if reduction == SUM else loss


@register_decomposition(aten.mse_loss)
@in_float
def mse_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    return _reduced((self - target) ** 2, reduction)


@register_decomposition(aten.smooth_l1_loss)
@in_float
def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int = MEAN, beta: float = 1.0) -> Tensor:
    far = native.abs(self - target)
    if beta == 0:
        return _reduced(far, reduction)
    return _reduced(native.where(far < beta, 0.5 * far**2 / beta, far - 0.5 * beta), reduction)


@register_decomposition(aten.huber_loss)
@in_float
def huber_loss(self: Tensor, target: Tensor, reduction: int = MEAN, delta: float = 1.0) -> Tensor:
    far = native.abs(self - target)
    return _reduced(native.where(far <= delta, 0.5 * far * far, delta * (far - 0.5 * delta)), reduction)


@register_decomposition(aten.soft_margin_loss)
@in_float
def soft_margin_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    return _reduced(native.log1p(native.exp(-self * target)), reduction)


@register_decomposition(aten.binary_cross_entropy)
@in_float
def binary_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN
) -> Tensor:
    # The logarithm of 0 is taken to be -100.
    yes, no = native.clamp(native.log(self), min=-100), native.clamp(native.log1p(-self), min=-100)
    loss = (target - 1) * no - target * yes
    return _reduced(loss if weight is None else loss * weight, reduction)


@register_decomposition(aten.nll_loss_forward)
@in_float
def nll_loss_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    classes = 0 if self.ndim == 1 else 1
    scores = self if weight is None else self * _along(weight, self.ndim, classes)
    is_seen = target != ignore_index
    safe = native.where(is_seen, target, 0)
    found = -native.squeeze(native.gather(scores, classes, native.unsqueeze(safe, classes)), classes)
    found = native.where(is_seen, found, 0)
    if reduction == 0 and self.ndim > 1:
        return found, self.new_full((), 0.0)
    if weight is None:
        total = native.sum(is_seen).to(self.dtype)
    else:
        weights = _along(weight, self.ndim, classes).expand(self.shape)
        total = native.squeeze(native.gather(weights, classes, native.unsqueeze(safe, classes)), classes)
        total = native.sum(native.where(is_seen, total, 0))
    whole = native.sum(found)
    return (whole / total if reduction == MEAN else whole), total


def _along(weight: Tensor, ndim: int, dim: int) -> Tensor:
    """Return weights so that they lie along a dimension."""
    return native.reshape(weight, [-1 if place == dim else 1 for place in range(ndim)])
