"""Distributions of real numbers that lie between bounds, or on one side of one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

from .. import _rushlight as native
from .._functions.under_vmap import holds_for_all
from .._rushlight import Tensor
from . import constraints
from .chances import _Chance
from .distribution import Distribution, shape_of
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli", "Exponential", "Uniform"]


class Uniform(Distribution):
    """All numbers between two bounds alike.

    >>> import rushlight as torch
    >>> torch.distributions.Uniform(0.0, 4.0).log_prob(torch.tensor(1.0))
    tensor(-1.3863)
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(shape_of(self.low, low, high), validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:  # type: ignore[override]
        """Each bound is on its side of the other."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The numbers between the bounds."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        """Not a number: all values are alike."""
        return math.nan * self.high

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (self.high - self.low) ** 2 / 12

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return (self.high - self.low) / 12**0.5

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        noise = native.rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + noise * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        inside = (self.low <= value).type_as(self.low) * (self.high > value).type_as(self.low)
        return inside.log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return (self.high - self.low).log()


class Exponential(ExponentialFamily):
    """Waiting for what happens at a rate.

    >>> import rushlight as torch
    >>> torch.distributions.Exponential(2.0).log_prob(torch.tensor(0.0))
    tensor(0.6931)
    """

    arg_constraints: ClassVar = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(shape_of(self.rate, rate), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return native.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.rate**-2

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        noise = native.empty(self._extended_shape(sample_shape), dtype=self.rate.dtype).exponential_()
        return noise / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return 1.0 - self.rate.log()

    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return -(-x).log()


class ContinuousBernoulli(_Chance, ExponentialFamily):
    """Numbers between zero and one whose density is that of a Bernoulli distribution, continued.

    >>> import rushlight as torch
    >>> torch.distributions.ContinuousBernoulli(0.25).log_prob(torch.tensor(1.0))
    tensor(-0.5991)
    """

    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        shape = self._given(probs, logits)
        if probs is not None:
            # Checked before they are moved off zero and one.
            if validate_args is not None and not holds_for_all(constraints.unit_interval.check(self.probs)):
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(shape, validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities of the distribution that is continued."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _far(self) -> Tensor:
        """Tell where the formulas hold: around one half, both sides of a fraction come to nothing."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _where_far(self) -> Tensor:
        return native.where(self._far(), self.probs, self._lims[0])

    def _log_norm(self) -> Tensor:
        """Return the logarithm of what the density is multiplied by."""
        cut, near = self._where_far(), (self.probs - 0.5) ** 2
        odds = (-cut).log1p() - cut.log()
        found = odds.abs().log() - (1 - 2 * cut).abs().log()
        return native.where(self._far(), found, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * near) * near)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        cut, near = self._where_far(), self.probs - 0.5
        found = cut / (2 * cut - 1) + 1 / ((-cut).log1p() - cut.log())
        return native.where(self._far(), found, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * near**2) * near)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        cut, near = self._where_far(), (self.probs - 0.5) ** 2
        found = cut * (cut - 1) / (1 - 2 * cut) ** 2 + 1 / ((-cut).log1p() - cut.log()) ** 2
        return native.where(self._far(), found, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * near) * near)

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        return self.icdf(native.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        entropy = native.binary_cross_entropy_with_logits(logits, value, None, None, 0)
        return self._log_norm() - entropy

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        cut = self._where_far()
        found = (cut**value * (1 - cut) ** (1 - value) + cut - 1) / (2 * cut - 1)
        found = native.where(self._far(), found, value)
        return found.masked_fill(value <= 0, 0.0).masked_fill(value >= 1, 1.0)

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        cut = self._where_far()
        start = (-cut).log1p()
        found = ((value * (2 * cut - 1) - cut).log1p() - start) / (cut.log() - start)
        return native.where(self._far(), found, value)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        none, one = (-self.probs).log1p(), self.probs.log()
        return self.mean * (none - one) - self._log_norm() - none

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        far = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = native.where(far, x, self._lims[0] - 0.5)
        near = 0.5 * x + x**2 / 24.0 - x**4 / 2880.0
        return native.where(far, cut.expm1().abs().log() - cut.abs().log(), near)
