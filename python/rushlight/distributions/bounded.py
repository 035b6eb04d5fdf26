"""Distributions of real numbers that lie between bounds, or on one side of one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

from .. import _rushlight as native
from .._functions.samples import holds_for_all
from .._rushlight import Tensor
from . import constraints
from .distribution import Distribution, shape_of
from .utils import broadcast_all

__all__ = ["Exponential", "Uniform"]


class Uniform(Distribution):
    """All numbers between two bounds alike.

    >>> import rushlight as torch
    >>> torch.distributions.Uniform(0.0, 4.0).log_prob(torch.tensor(1.0))
    tensor(-1.3863)
    """

    arg_constraints: ClassVar = {"low": constraints.dependent, "high": constraints.dependent}
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(shape_of(self.low, low, high), validate_args=validate_args)
        if self._validate_args and not holds_for_all(self.low < self.high):
            bound = constraints.less_than(self.high)
            raise ValueError(
                f"Expected parameter low (Tensor of shape {tuple(self.low.shape)}) of distribution {self!r} "
                f"to satisfy the constraint {bound!r}, but found invalid values:\n"
                f"{self.low if self.low.dim() else self.low.item()}"
            )

    @property
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
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return (self.high - self.low).log()


class Exponential(Distribution):
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
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return 1.0 - self.rate.log()
