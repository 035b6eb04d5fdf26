"""Distributions of what simple maps make of simple distributions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _rushlight as native
from . import constraints
from .bounded import Uniform
from .distribution import shape_of
from .elementwise_transforms import AffineTransform, ExpTransform
from .joint_transforms import StickBreakingTransform
from .scaled import Normal
from .transformed import TransformedDistribution
from .utils import broadcast_all

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from .._rushlight import Tensor

__all__ = ["Gumbel", "LogNormal", "LogisticNormal"]


class Gumbel(TransformedDistribution):
    """The distribution of the greatest of many samples.

    >>> import rushlight as torch
    >>> torch.distributions.Gumbel(0.0, 1.0).log_prob(torch.tensor(1.0))
    tensor(-1.3679)
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real

    _EULER = 0.57721566490153286060

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = native.finfo(self.loc.dtype)
        shape = shape_of(self.loc, loc, scale)
        low, high = (self.loc.new_full(shape, bound) for bound in (info.tiny, 1 - info.eps))
        to_exponential = [ExpTransform().inv, AffineTransform(0, -native.ones_like(self.scale))]
        to_gumbel = [ExpTransform().inv, AffineTransform(self.loc, -self.scale)]
        super().__init__(
            Uniform(low, high, validate_args=validate_args),
            [*to_exponential, *to_gumbel],
            validate_args=validate_args,
        )

    def expand(self, batch_shape: Iterable[int], _instance: Any = None) -> Self:
        """Return as many of the distribution as `batch_shape` says, on the same memory."""
        made = super().expand(batch_shape)
        made.loc, made.scale = (one.expand(made.batch_shape) for one in (self.loc, self.scale))
        return made

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc + self.scale * self._EULER

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.stddev**2

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return math.pi / math.sqrt(6) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return self.scale.log() + (1 + self._EULER)


class LogNormal(TransformedDistribution):
    """The exponential of a normal distribution.

    >>> import rushlight as torch
    >>> torch.distributions.LogNormal(0.0, 1.0).log_prob(torch.tensor(1.0))
    tensor(-0.9189)
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Normal

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self.loc + self.scale**2 / 2).exp()

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return (self.loc - self.scale**2).exp()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (self.scale**2).expm1() * (2 * self.loc + self.scale**2).exp()

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Probabilities, each a share of what those before it have left, and normal on the scale of logits.

    >>> import rushlight as torch
    >>> torch.distributions.LogisticNormal(torch.zeros(1), torch.ones(1)).log_prob(torch.tensor([0.5, 0.5]))
    tensor(0.4674)
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of what is mapped."""
        found: Tensor = self.base_dist.base_dist.loc  # type: ignore[attr-defined]
        return found

    @property
    def scale(self) -> Tensor:
        """The deviations of what is mapped."""
        found: Tensor = self.base_dist.base_dist.scale  # type: ignore[attr-defined]
        return found
