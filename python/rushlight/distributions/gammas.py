"""The gamma distribution and what is made of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

from .. import _rushlight as native
from .._rushlight import Tensor
from ..autograd.grad_mode import no_grad
from ..nn.functional import logsigmoid
from . import constraints
from .distribution import shape_of
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Beta", "Chi2", "Dirichlet", "Gamma"]


def _standard_gamma(concentration: Tensor, generator: Any = None) -> Tensor:
    """Draw from gamma distributions of rate one; gradients pass."""
    with no_grad():
        sample = native._draw_gamma(concentration.detach(), generator)
        sample = sample.clamp(min=native.finfo(concentration.dtype).tiny)

    def moved(concentration: Tensor, sample: Tensor) -> Tensor:
        """Move the sample with its concentration so that its quantile stays, as far as derivatives see."""
        if not native.is_grad_enabled():
            return sample
        a, x = concentration.double(), sample.double()
        quantile = native.igamma(a.detach(), x)
        # Newton's steps: each doubles how many derivatives are right.
        for _ in range(2):
            density = ((a - 1) * x.log() - x - native.lgamma(a)).exp()
            x = x - (native.igamma(a, x) - quantile) / density
        return x.to(sample.dtype)

    names = ("_standard_gamma", "StandardGammaBackward0", "self - result")
    (result,) = native._as_one(moved, names, (1, 0, 0), {}, concentration, sample)
    return result


def _shares(concentration: Tensor, generator: Any = None) -> Tensor:
    """Draw shares that come to one, by how concentrated each is; gradients pass."""
    parts = _standard_gamma(concentration.double(), generator)
    shares = (parts / parts.sum(-1, True)).to(concentration.dtype)
    limits = native.finfo(shares.dtype)
    return shares.clamp(min=limits.tiny, max=1 - limits.eps / 2)


def _beta_slope(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Return -(dF/da) / f / (1 - x) of Beta(a, b) at x.

    dF/da is the integral of the density times log t - (psi(a) - psi(a + b)), up to x or, which is its
    negative, from x. Points crowd towards both ends of the interval, where densities may have no bound.
    """
    middle = native.digamma(a) - native.digamma(a + b)
    x, a, b, middle = (each[..., None] for each in native.broadcast_tensors([x, a, b, middle]))
    steps = native.linspace(-8.5, 8.5, 1701, dtype=native.float64)
    bent = math.pi * steps.sinh()
    near, far = logsigmoid(bent), logsigmoid(-bent)
    is_below = x <= a / (a + b)
    log_x, log_rest = x.log(), native.log1p(-x)
    # The logarithms of t and 1 - t, where t is x times the share, or 1 - t is 1 - x times it.
    log_t = native.where(is_below, log_x + near, native.logaddexp(log_x, log_rest + far))
    log_u = native.where(is_below, native.logaddexp(log_rest, log_x + far), log_rest + near)
    ratio = ((a - 1) * (log_t - log_x) + (b - 1) * (log_u - log_rest) + near + far).exp()
    width = native.where(is_below, x, x - 1) * math.pi * steps.cosh() * (steps[1] - steps[0])
    return -((log_t - middle) * ratio * width).sum(-1) / (1 - x).squeeze(-1)


def _Dirichlet_backward(x: Tensor, concentration: Tensor, grad_output: Tensor) -> Tensor:
    """Return the gradient of how concentrated shares are."""
    slope = _beta_slope(
        x.double(), concentration.double(), (concentration.sum(-1, True) - concentration).double()
    )
    return slope.to(x.dtype) * (grad_output - (x * grad_output).sum(-1, True))


class Gamma(ExponentialFamily):
    """Waiting for several of what happens at a rate.

    >>> import rushlight as torch
    >>> torch.distributions.Gamma(1.0, 2.0).log_prob(torch.tensor(1.0))
    tensor(-1.3069)
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        shape = shape_of(self.concentration, concentration, rate)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.concentration / self.rate**2

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        shape = self._extended_shape(sample_shape)
        return _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of samples up to a value."""
        if self._validate_args:
            self._validate_sample(value)
        return native.igamma(self.concentration, self.rate * value)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        value = native.as_tensor(value, dtype=self.rate.dtype)
        if self._validate_args:
            self._validate_sample(value)
        scaled = native.xlogy(self.concentration, self.rate) + native.xlogy(self.concentration - 1, value)
        return scaled - self.rate * value - native.lgamma(self.concentration)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        a = self.concentration
        return a - self.rate.log() + native.lgamma(a) + (1.0 - a) * native.digamma(a)

    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return native.lgamma(x + 1) + (x + 1) * (-y.reciprocal()).log()


class Chi2(Gamma):
    """The sum of the squares of so many normal numbers.

    >>> import rushlight as torch
    >>> torch.distributions.Chi2(2.0).log_prob(torch.tensor(1.0))
    tensor(-1.1931)
    """

    arg_constraints: ClassVar = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (freedom,) = broadcast_all(df)
        self.df = freedom
        super().__init__(0.5 * freedom, 0.5, validate_args=validate_args)

    def __repr__(self) -> str:
        return "Chi2()"


class Dirichlet(ExponentialFamily):
    """Shares of a whole.

    >>> import rushlight as torch
    >>> torch.distributions.Dirichlet(torch.ones(2)).log_prob(torch.tensor([0.5, 0.5]))
    tensor(0.)
    """

    arg_constraints: ClassVar = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    @property
    def mode(self) -> Tensor:
        """The most likely shares: one of them alone, where they are not concentrated."""
        excess = (self.concentration - 1).clamp(min=0.0)
        found = excess / excess.sum(-1, True)
        most = native.zeros_like(found).scatter(-1, found.argmax(-1, True), 1.0)
        return native.where((self.concentration < 1).all(-1, True), most, found)

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        return _shares(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return native.xlogy(a - 1.0, value).sum(-1) + native.lgamma(a.sum(-1)) - native.lgamma(a).sum(-1)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        a, total = self.concentration, self.concentration.sum(-1)
        inner = native.lgamma(a).sum(-1) - native.lgamma(total)
        outer = (a.shape[-1] - total) * native.digamma(total)
        return inner - outer - ((a - 1.0) * native.digamma(a)).sum(-1)

    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.lgamma().sum(-1) - native.lgamma(x.sum(-1))


class Beta(ExponentialFamily):
    """The share of one of two parts of a whole.

    >>> import rushlight as torch
    >>> torch.distributions.Beta(1.0, 1.0).log_prob(torch.tensor(0.5))
    tensor(0.)
    """

    arg_constraints: ClassVar = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        first, second = broadcast_all(concentration1, concentration0)
        if isinstance(concentration1, (int, float)) and isinstance(concentration0, (int, float)):
            first, second = (native.tensor(float(one)) for one in (concentration1, concentration0))
        self._dirichlet = Dirichlet(native.stack([first, second], -1), validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def __repr__(self) -> str:
        return "Beta()"

    def expand(self, batch_shape: Iterable[int], _instance: Any = None) -> Beta:
        """Return as many of the distribution as `batch_shape` says."""
        made: Any = _instance or type(self).__new__(type(self))
        made._dirichlet = self._dirichlet.expand(batch_shape)
        super(Beta, made).__init__(made._dirichlet._batch_shape, validate_args=False)
        made._validate_args = self._validate_args
        return made  # type: ignore[no-any-return]

    @property
    def concentration1(self) -> Tensor:
        """The concentration of the part."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """The concentration of the rest."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        """The most likely share."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        """The variance."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total**2 * (total + 1))

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return Dirichlet(self._dirichlet.concentration, validate_args=False).log_prob(
            native.stack([value, 1.0 - value], -1)
        )

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return self._dirichlet.entropy()

    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return native.lgamma(x) + native.lgamma(y) - native.lgamma(x + y)
