"""Functions of elements, products with sums, and movements, written in fewer of them."""

from __future__ import annotations

from math import log
from typing import Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from ._table import aten, in_float, register_decomposition

__all__: list[str] = []


@register_decomposition(aten.square)
def square(self: Tensor) -> Tensor:
    return self * self


@register_decomposition(aten.rsub)
def rsub(self: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    return native.sub(other, self, alpha=alpha) if isinstance(other, Tensor) else other - self * alpha


@register_decomposition(aten.addcmul)
@in_float
def addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    return self + (tensor1 * tensor2 if value == 1 else value * tensor1 * tensor2)


@register_decomposition(aten.addcdiv)
@in_float
def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    return self + value * (tensor1 / tensor2)


@register_decomposition(aten.lerp)
@in_float
def lerp(self: Tensor, end: Tensor, weight: Any) -> Tensor:
    if not isinstance(weight, Tensor):
        weight = native.full((), weight, dtype=self.dtype)
    is_near = native.abs(weight) < 0.5
    rest = end - self
    return native.where(is_near, self + weight * rest, end - rest * (1 - weight))


@register_decomposition(aten.xlogy)
@in_float
def xlogy(self: Any, other: Any) -> Tensor:
    one, two = (
        value if isinstance(value, Tensor) else native.scalar_tensor(value) for value in (self, other)
    )
    found = native.where(one == 0, 0.0, one * native.log(two))
    return native.where(native.isnan(two), float("nan"), found)


@register_decomposition(aten.logit)
@in_float
def logit(self: Tensor, eps: float | None = None) -> Tensor:
    inner = self if eps is None or eps < 0 else native.clamp(self, eps, 1 - eps)
    return native.log(inner / (1 - inner))


@register_decomposition(aten.logaddexp)
def logaddexp(self: Tensor, other: Tensor) -> Tensor:
    larger = native.maximum(self, other)
    found = larger + native.log1p(native.exp(-native.abs(self - other)))
    return native.where(native.isinf(self) & (self == other), self, found)


@register_decomposition(aten.logaddexp2)
def logaddexp2(self: Tensor, other: Tensor) -> Tensor:
    larger = native.maximum(self, other)
    found = larger + native.log1p(native.exp2(-native.abs(self - other))) * (1 / log(2))
    return native.where(native.isinf(self) & (self == other), self, found)


@register_decomposition(aten.special_entr)
@in_float
def special_entr(self: Tensor) -> Tensor:
    inner = native.where(self > 0, -self * native.log(self), native.where(self == 0, 0.0, -float("inf")))
    return native.where(native.isnan(self), self, inner)


@register_decomposition(aten.frac)
def frac(self: Tensor) -> Tensor:
    return self - native.trunc(self)


@register_decomposition(aten.sinc)
@in_float
def sinc(self: Tensor) -> Tensor:
    angle = self * 3.141592653589793
    return native.where(angle == 0, 1, native.sin(angle) / angle)


@register_decomposition(aten.nan_to_num)
def nan_to_num(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    if not self.is_floating_point():
        return self.clone()
    limits = native.finfo(self.dtype)
    found = native.where(native.isnan(self), 0.0 if nan is None else nan, self)
    found = native.where(self == -float("inf"), limits.min if neginf is None else neginf, found)
    return native.where(self == float("inf"), limits.max if posinf is None else posinf, found)


@register_decomposition(aten.addmm.default)
@in_float
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    return _with(self, native.mm(mat1, mat2), beta, alpha)


@register_decomposition(aten.addmv)
@in_float
def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    return _with(self, native.mv(mat, vec), beta, alpha)


@register_decomposition(aten.addr)
@in_float
def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    return _with(self, vec1[:, None] * vec2, beta, alpha)


@register_decomposition(aten.baddbmm.default)
@in_float
def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    return _with(self, native.bmm(batch1, batch2), beta, alpha)


def _with(added: Tensor, product: Tensor, beta: float, alpha: float) -> Tensor:
    found = product if alpha == 1 else product * alpha
    if beta == 0:
        return found
    return found + (added if beta == 1 else added * beta)


@register_decomposition(aten.trace)
def trace(self: Tensor) -> Tensor:
    return native.sum(native.diag(self))


@register_decomposition(aten.dist)
def dist(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
    return native.norm(self - other, p=p)


@register_decomposition(aten.t)
def t(self: Tensor) -> Tensor:
    return self if self.ndim < 2 else native.transpose(self, 0, 1)


@register_decomposition(aten.masked_fill)
def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    filled = value if isinstance(value, Tensor) else native.scalar_tensor(value, dtype=self.dtype)
    return native.where(mask, filled.to(self.dtype), self)


@register_decomposition(aten.logsumexp)
def logsumexp(self: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    if not self.numel():
        return native.log(native.sum(native.exp(self), dim, keepdim))
    largest = native.amax(self, dim, keepdim=True)
    largest = native.where(native.abs(largest) == float("inf"), 0, largest)
    found = native.log(native.sum(native.exp(self - largest), dim, keepdim=True)) + largest
    return found if keepdim else native.squeeze(found, dim)


@register_decomposition(aten.std.correction)
@in_float
def std(self: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Tensor:
    given = {} if correction is None else {"correction": correction}
    return native.sqrt(native.var(self, dim, keepdim=keepdim, **given))


@register_decomposition(aten.embedding)
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    found = native.index_select(weight, 0, indices.reshape(-1))
    return found.reshape((*indices.shape, *weight.shape[1:]))


@register_decomposition(aten.zeros_like)
def zeros_like(self: Tensor, **options: Any) -> Tensor:
    return native.full_like(self, 0, **options)


@register_decomposition(aten.ones_like)
def ones_like(self: Tensor, **options: Any) -> Tensor:
    return native.full_like(self, 1, **options)
