"""Distributions with so many samples far out that there may be no mean, or no variance."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

from .. import _rushlight as native
from .._rushlight import Tensor
from . import constraints
from .distribution import Distribution
from .gammas import Chi2
from .utils import broadcast_all, standard_normal

__all__ = ["StudentT"]


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
