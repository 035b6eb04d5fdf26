"""Distributions with so many samples far out that there may be no mean, or no variance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _rushlight as native
from . import constraints
from .distribution import Distribution, shape_of, standard_normal
from .gammas import Chi2
from .scaled import Cauchy
from .utils import broadcast_all

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._rushlight import Tensor

__all__ = ["HalfCauchy", "StudentT"]


class StudentT(Distribution):
    """A normal number over the root of a mean of `df` squares of others.

    >>> import rushlight as torch
    >>> torch.distributions.StudentT(2.0).log_prob(torch.tensor(0.0))
    tensor(-1.0397)
    """

    arg_constraints: ClassVar = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean; not a number where there is none."""
        return native.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The variance: infinite, or not a number, where there is none."""
        found = self.scale**2 * self.df / (self.df - 2)
        found = native.where(self.df <= 2, math.inf, found)
        return native.where(self.df <= 1, math.nan, found)

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        normal = standard_normal(self._extended_shape(sample_shape), self.df)
        squares = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (normal * native.rsqrt(squares / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        df, more = self.df, 0.5 * (self.df + 1.0)
        whole = 0.5 * df.log() + 0.5 * math.log(math.pi) + native.lgamma(0.5 * df) - native.lgamma(more)
        apart = (value - self.loc) / self.scale
        return -more * native.log1p(apart**2.0 / df) - self.scale.log() - whole

    def entropy(self) -> Tensor:
        """Return the entropy."""
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = native.lgamma(half) + math.lgamma(0.5) - native.lgamma(more)
        slope = native.digamma(more) - native.digamma(half)
        return self.scale.log() + more * slope + 0.5 * self.df.log() + beta


class HalfCauchy(Distribution):
    """The magnitude of a Cauchy distribution around zero.

    >>> import rushlight as torch
    >>> torch.distributions.HalfCauchy(1.0).log_prob(torch.tensor(1.0))
    tensor(-1.1447)
    """

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast_all(scale)
        super().__init__(shape_of(self.scale, scale), validate_args=validate_args)

    def __repr__(self) -> str:
        return "HalfCauchy()"

    def _whole(self) -> Cauchy:
        return Cauchy(native.zeros_like(self.scale), self.scale, validate_args=False)

    @property
    def mean(self) -> Tensor:
        """Infinite."""
        return native.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return native.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return self._whole().variance

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        return self._whole().expand(self._batch_shape).rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        value = native.as_tensor(value, dtype=self.scale.dtype)
        return native.where(value >= 0, self._whole().log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self._whole().cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        return self._whole().icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return self._whole().entropy() - math.log(2)
