"""Distributions of real numbers that are moved and scaled."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

from .. import _rushlight as native
from .._rushlight import Tensor
from ..autograd.grad_mode import no_grad
from . import constraints
from .distribution import AroundLocation, Distribution, shape_of
from .exp_family import ExponentialFamily
from .utils import broadcast_all, standard_normal

__all__ = ["Cauchy", "Laplace", "Normal"]


class _Scaled(Distribution):
    """A distribution that is moved and scaled."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(shape_of(self.loc, loc, scale), validate_args=validate_args)

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc


class Normal(AroundLocation, _Scaled, ExponentialFamily):
    """The normal distribution of a mean and a deviation.

    >>> import rushlight as torch
    >>> normal = torch.distributions.Normal(torch.tensor([0.0, 1.0]), 2.0)
    >>> normal
    Normal(loc: torch.Size([2]), scale: torch.Size([2]))
    >>> normal.log_prob(torch.tensor(1.0))
    tensor([-1.7371, -1.6121])
    """

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale**2

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples, through which no gradient passes."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return native.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        noise = standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        apart = -((value - self.loc) ** 2) / (2 * self.scale**2)
        return apart - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + native.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        return self.loc + self.scale * native.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return -0.25 * x.pow(2) / y + 0.5 * (-math.pi / y).log()


class Laplace(AroundLocation, _Scaled):
    """The distribution whose density falls exponentially on both sides.

    >>> import rushlight as torch
    >>> torch.distributions.Laplace(0.0, 1.0).log_prob(torch.tensor(1.0))
    tensor(-1.6931)
    """

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return 2 * self.scale**2

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        shape, info = self._extended_shape(sample_shape), native.finfo(self.loc.dtype)
        u = native.empty(shape, dtype=self.loc.dtype).uniform_(info.eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        apart = value - self.loc
        return 0.5 - 0.5 * apart.sign() * (-apart.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return 1 + (2 * self.scale).log()


class Cauchy(_Scaled):
    """The distribution of the quotient of two normal ones: it has no mean.

    >>> import rushlight as torch
    >>> torch.distributions.Cauchy(0.0, 1.0).log_prob(torch.tensor(1.0))
    tensor(-1.8379)
    """

    @property
    def mean(self) -> Tensor:
        """Not a number."""
        return native.full(self._extended_shape(), math.nan, dtype=self.loc.dtype)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return native.full(self._extended_shape(), math.inf, dtype=self.loc.dtype)

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        noise = native.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).cauchy_()
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        return native.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        return native.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return math.log(4 * math.pi) + self.scale.log()
