"""The normal distribution of vectors, and distributions of vectors of independent elements."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

from .. import _rushlight as native
from .. import linalg
from .._rushlight import Size, Tensor
from . import constraints
from .distribution import AroundLocation, Distribution
from .utils import lazy_property, standard_normal, sum_rightmost

__all__ = ["Independent", "MultivariateNormal"]


class _Rooted(Distribution):
    """A distribution with a covariance, which is given as it is, by its inverse or by its triangular root."""

    _unbroadcasted_scale_tril: Tensor

    @staticmethod
    def _only(error: type[Exception], **matrices: Tensor | None) -> tuple[str, Tensor]:
        """Return the name and the matrix of the one that is given; refuse none and several."""
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise error(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        return given[0]

    def _take_root(self, name: str) -> None:
        """Compute the root from the matrix of that name."""
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = self.scale_tril
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = linalg.cholesky(self.covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = _root_of_inverse(self.precision_matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular root of the covariance."""
        return self._unbroadcasted_scale_tril

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return native.cholesky_inverse(self._unbroadcasted_scale_tril)


class MultivariateNormal(AroundLocation, _Rooted):
    """The normal distribution of vectors with a mean and a covariance.

    >>> import rushlight as torch
    >>> normal = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    >>> normal.log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = self._only(
            ValueError,
            covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
            scale_tril=scale_tril,
        )
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = native.broadcast_tensors([loc[..., 0], matrix[..., 0, 0]])[0].shape
        self.loc = loc.expand(*batch, loc.shape[-1])
        setattr(self, name, matrix.expand(*batch, *matrix.shape[-2:]))
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)
        self._take_root(name)

    @property
    def variance(self) -> Tensor:
        """The variances of the elements."""
        return (self._unbroadcasted_scale_tril**2).sum(-1)

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        noise = standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + (self._unbroadcasted_scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        apart = (value - self.loc).unsqueeze(-1)
        squares = (linalg.solve_triangular(self._unbroadcasted_scale_tril, apart, upper=False) ** 2).sum(
            (-2, -1)
        )
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + squares) - self._spread()

    def _spread(self) -> Tensor:
        """Return the logarithm of the determinant of the triangle."""
        return self._unbroadcasted_scale_tril.diagonal(0, -2, -1).log().sum(-1)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._spread()


def _root_of_inverse(precision: Tensor) -> Tensor:
    """Return the triangle of the covariance, of which the inverse is given."""
    flipped = linalg.cholesky(native.flip(precision, (-2, -1)))
    turned = native.flip(flipped, (-2, -1)).mT
    unit = native.eye(precision.shape[-1], dtype=precision.dtype)
    return linalg.solve_triangular(turned, unit.expand(precision.shape), upper=False)


def _batch_mv(matrix: Tensor, vector: Tensor) -> Tensor:
    """Return matrices times vectors."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(root: Tensor, apart: Tensor) -> Tensor:
    """Return squared distances by the triangular root of a covariance."""
    shape = native.broadcast_tensors([root[..., 0], apart])[1].shape
    solved = linalg.solve_triangular(root, apart.expand(shape).unsqueeze(-1), upper=False)
    return solved.pow(2).sum((-2, -1))


class Independent(Distribution):
    """A distribution, some of whose dimensions are those of one sample.

    >>> import rushlight as torch
    >>> each = torch.distributions.Normal(torch.zeros(3), 1.0)
    >>> torch.distributions.Independent(each, 1).event_shape
    torch.Size([3])
    """

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        shape = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(shape)}"
            )
        split = len(shape) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        event = Size([*shape[split:], *base_distribution.event_shape])
        super().__init__(shape[:split], event, validate_args=validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether gradients pass samples."""
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self) -> Any:
        """What the base allows of every element."""
        found = self.base_dist.support
        if self.reinterpreted_batch_ndims:
            found = constraints.independent(found, self.reinterpreted_batch_ndims)
        return found

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        """The variances of the elements."""
        return self.base_dist.variance

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples, through which no gradient passes."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
