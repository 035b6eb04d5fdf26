"""Powers of simpler distributions, and what is drawn from gamma distributions by division."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .. import _rushlight as native
from . import constraints
from .bounded import Exponential, Uniform
from .distribution import Distribution, shape_of
from .elementwise_transforms import AffineTransform, ExpTransform, PowerTransform
from .gammas import Gamma
from .transformed import TransformedDistribution
from .utils import broadcast_all

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._rushlight import Tensor

__all__ = ["FisherSnedecor", "InverseGamma", "Kumaraswamy", "Pareto", "Weibull"]

_EULER = 0.57721566490153286060


class Pareto(TransformedDistribution):
    """Values from a least one on, of which large ones are rare as a power.

    >>> import rushlight as torch
    >>> torch.distributions.Pareto(1.0, 2.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean, which large powers alone have."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variance, which large powers alone have."""
        a = self.alpha.clamp(min=2)
        return self.scale**2 * a / ((a - 1) ** 2 * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The values from the least one on."""
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """A power of an exponential distribution.

    >>> import rushlight as torch
    >>> torch.distributions.Weibull(1.0, 1.0).mean
    tensor(1.)
    """

    arg_constraints: ClassVar = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(native.ones_like(self.scale), validate_args=validate_args)
        maps = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, maps, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.scale * native.lgamma(1 + self.concentration_reciprocal).exp()

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        second = native.lgamma(1 + 2 * self.concentration_reciprocal).exp()
        return self.scale**2 * (second - (2 * native.lgamma(1 + self.concentration_reciprocal)).exp())

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return (
            _EULER * (1 - self.concentration_reciprocal)
            + (self.scale * self.concentration_reciprocal).log()
            + 1
        )


class Kumaraswamy(TransformedDistribution):
    """A power of one less a power of something uniform: much like a beta distribution.

    >>> import rushlight as torch
    >>> torch.distributions.Kumaraswamy(1.0, 1.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            native.full_like(self.concentration0, 0),
            native.full_like(self.concentration0, 1),
            validate_args=validate_args,
        )
        maps = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, maps, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        a, b = self.concentration1, self.concentration0
        first = 1 + n / a
        return (b.log() + native.lgamma(first) + native.lgamma(b) - native.lgamma(first + b)).exp()

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """The most likely value, if there is one inside."""
        a, b = self.concentration1, self.concentration0
        log_mode = a.reciprocal() * (native.log(a - 1) - native.log(a * b - 1))
        return native.where((a < 1) | (b < 1), float("nan"), log_mode.exp())

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self._moment(2) - self.mean**2

    def entropy(self) -> Tensor:
        """Return the entropy."""
        a, b = self.concentration1, self.concentration0
        harmonic = native.digamma(b + 1) + _EULER
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * harmonic - a.log() - b.log()


class InverseGamma(TransformedDistribution):
    """One over what a gamma distribution gives.

    >>> import rushlight as torch
    >>> torch.distributions.InverseGamma(2.0, 3.0).mean
    tensor(3.)
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(base.rate.new_tensor(-1))
        super().__init__(base, power, validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        """The concentration of the gamma distribution."""
        found: Tensor = self.base_dist.concentration  # type: ignore[attr-defined]
        return found

    @property
    def rate(self) -> Tensor:
        """The rate of the gamma distribution."""
        found: Tensor = self.base_dist.rate  # type: ignore[attr-defined]
        return found

    @property
    def mean(self) -> Tensor:
        """The mean, which large concentrations alone have."""
        found = self.rate / (self.concentration - 1)
        return native.where(self.concentration > 1, found, float("inf"))

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """The variance, which large concentrations alone have."""
        a = self.concentration
        return native.where(a > 2, self.rate**2 / ((a - 1) ** 2 * (a - 2)), float("inf"))

    def entropy(self) -> Tensor:
        """Return the entropy."""
        a = self.concentration
        return a + self.rate.log() + native.lgamma(a) - (1 + a) * native.digamma(a)


class FisherSnedecor(Distribution):
    """A quotient of two means of squares.

    >>> import rushlight as torch
    >>> torch.distributions.FisherSnedecor(1.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(shape_of(self.df1, df1, df2), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean, if there is one."""
        df2 = self.df2.masked_fill(self.df2 <= 2, float("nan"))
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, float("nan"))

    @property
    def variance(self) -> Tensor:
        """The variance, if there is one."""
        df2 = self.df2.masked_fill(self.df2 <= 4, float("nan"))
        return 2 * df2**2 * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2) ** 2 * (df2 - 4))

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        shape = self._extended_shape(sample_shape)
        first, second = (one.rsample(sample_shape).view(shape) for one in (self._gamma1, self._gamma2))
        tiny = native.finfo(second.dtype).tiny
        return (first / second.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        one, two = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        ways = native.lgamma(one + two) - native.lgamma(one) - native.lgamma(two)
        shape = one * ratio.log() + (one - 1) * value.log()
        return ways + shape - (one + two) * (ratio * value).log1p()
