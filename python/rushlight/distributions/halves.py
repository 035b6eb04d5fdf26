"""Magnitudes of what is as likely on one side of zero as on the other."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from .. import _rushlight as native
from .._rushlight import Tensor
from . import constraints
from .elementwise_transforms import AbsTransform
from .scaled import Cauchy, Normal
from .transformed import TransformedDistribution

__all__ = ["HalfCauchy", "HalfNormal"]


class _Half(TransformedDistribution):
    arg_constraints: ClassVar = {"scale": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True

    sides: ClassVar[type[Normal | Cauchy]]
    base_dist: Normal | Cauchy

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = self.sides(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The scale of both sides."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return native.zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return native.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The magnitude of a normal distribution of mean zero.

    >>> import rushlight as torch
    >>> torch.distributions.HalfNormal(1.0).log_prob(torch.tensor(1.0))
    tensor(-0.7258)
    """

    sides = Normal

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale**2 * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The magnitude of a Cauchy distribution around zero.

    >>> import rushlight as torch
    >>> torch.distributions.HalfCauchy(1.0).log_prob(torch.tensor(1.0))
    tensor(-1.1447)
    """

    sides = Cauchy

    @property
    def mean(self) -> Tensor:
        """Infinite."""
        return native.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return self.base_dist.variance

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density, of the type that the scale has."""
        if self._validate_args:
            self._validate_sample(value)
        return super().log_prob(native.as_tensor(value, dtype=self.scale.dtype))
