"""Distributions with so many samples far out that there may be no mean, or no variance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from .. import _rushlight as native
from .._rushlight import Tensor
from . import constraints
from .distribution import Distribution, shape_of
from .gammas import Chi2
from .utils import broadcast_all, standard_normal

__all__ = ["GeneralizedPareto", "StudentT"]


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
        normal = standard_normal(self._extended_shape(sample_shape), self.df.dtype)
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


class GeneralizedPareto(Distribution):
    """What is left beyond a threshold: tails that end, fall exponentially, or are long, by `concentration`.

    >>> import rushlight as torch
    >>> torch.distributions.GeneralizedPareto(0.0, 1.0, 0.5).log_prob(torch.tensor(2.0))
    tensor(-2.0794)
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(shape_of(self.loc, loc, scale, concentration), validate_args=validate_args)

    @property
    def support(self) -> Any:
        """What lies beyond the threshold, up to an end if there is one."""
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, native.where(self.concentration < 0, end, math.inf))

    def _plain(self) -> tuple[Tensor, Tensor]:
        """Tell where the tail is exponential, and return the concentration where it is not."""
        plain = native.isclose(self.concentration, native.zeros_like(self.concentration))
        return plain, native.where(plain, 1.0, self.concentration)

    @property
    def mean(self) -> Tensor:
        """The mean; not a number where there is none."""
        return self._moment(1.0, lambda shape: self.loc + self.scale / (1 - shape))

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The variance; not a number where there is none."""
        return self._moment(0.5, lambda shape: self.scale**2 / ((1 - shape) ** 2 * (1 - 2 * shape)))

    def _moment(self, limit: float, formula: Callable[[Tensor], Tensor]) -> Tensor:
        there = self.concentration < limit
        return native.where(there, formula(native.where(there, self.concentration, limit / 2)), math.nan)

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        return self.icdf(native.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        beyond = (value - self.loc) / self.scale
        plain, shape = self._plain()
        power = 1 / shape + native.ones_like(beyond)
        tail = native.where(power == 0, power, power * (shape * beyond).log1p())
        return -self.scale.log() - native.where(plain, beyond, tail)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of samples above a value."""
        if self._validate_args:
            self._validate_sample(value)
        beyond = (value - self.loc) / self.scale
        plain, shape = self._plain()
        return native.where(plain, -beyond, -(shape * beyond).log1p() / shape)

    def log_cdf(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of samples up to a value."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of samples up to a value."""
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        plain, shape = self._plain()
        above = (-value).log1p()
        tail = self.loc + self.scale / shape * (-shape * above).expm1()
        return native.where(plain, self.loc - self.scale * above, tail)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return (self.scale.log() + self.concentration + 1).expand(self._batch_shape)
