"""Maps of whole vectors and matrices: to probabilities, triangular factors, positive definite matrices."""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor
from ..linalg import cholesky
from ..nn.functional import logsigmoid
from . import constraints
from .elementwise_transforms import _inside
from .transforms import Transform
from .utils import sum_rightmost

__all__ = [
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "SoftmaxTransform",
    "StickBreakingTransform",
]


class IndependentTransform(Transform):
    """A map whose last dimensions count as one event: how much it stretches them is summed.

    >>> import rushlight as torch
    >>> from rushlight.distributions.transforms import ExpTransform, IndependentTransform
    >>> map = IndependentTransform(ExpTransform(), 1)
    >>> map.log_abs_det_jacobian(torch.ones(2, 3), torch.ones(2, 3).exp())
    tensor([3., 3.])
    """

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.bijective = base_transform.bijective
        self.domain = constraints.independent(base_transform.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base_transform.codomain, reinterpreted_batch_ndims)

    @property
    def sign(self) -> Any:
        """Whether order is kept (1) or turned round (-1)."""
        return self.base_transform.sign

    def _arguments(self) -> tuple[Any, ...]:
        return self.base_transform, self.reinterpreted_batch_ndims

    def _call(self, x: Tensor) -> Tensor:
        _require(x.dim(), self.domain)
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        _require(y.dim(), self.codomain)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return what the map says, summed over the event."""
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of what is made of a tensor of a shape."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of what a tensor of a shape is made of."""
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class _OfEvents(Transform):
    """A map of vectors or matrices that has no parameters."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)


class SoftmaxTransform(_OfEvents):
    """The softmax: many vectors become one, and it goes back to the logarithms."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return x.softmax(-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape, which has a vector."""
        _require(len(shape), self.domain)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(_OfEvents):
    """Probabilities, each a share of what those before it have left; one more of them than numbers."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        share = _inside((x - _log_places(x)).sigmoid())
        whole = native.ones_like(x[..., :1])
        left = native.cat([whole, (1 - share).cumprod(-1)], -1)
        return native.cat([share, whole], -1) * left

    def _inverse(self, y: Tensor) -> Tensor:
        broken = y[..., :-1]
        left = (1 - broken.cumsum(-1)).clamp(min=native.finfo(y.dtype).tiny)
        return broken.log() - left.log() + _log_places(broken)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the sum of the logarithms of each probability and of what it leaves."""
        x = x - _log_places(x)
        return (logsigmoid(x) - x + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape with one more number in the vector."""
        _require(len(shape), self.domain)
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape with one number less in the vector."""
        _require(len(shape), self.codomain)
        return (*shape[:-1], shape[-1] - 1)


class LowerCholeskyTransform(_OfEvents):
    """What lies below the diagonal as it is, and the exponential of the diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain: Any = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class PositiveDefiniteTransform(LowerCholeskyTransform):
    """The square of such a factor."""

    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = super()._call(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return super()._inverse(cholesky(y))


def _require(dims: int, constraint: Any) -> None:
    """Fail unless there are as many dimensions as one event has."""
    if dims < constraint.event_dim:
        raise ValueError("Too few dimensions on input")


def _log_places(x: Tensor) -> Tensor:
    """Return the logarithms of how many places are left behind each: equal shares stand where `x` is zero."""
    return native.arange(x.shape[-1], 0, -1, dtype=x.dtype).log()
