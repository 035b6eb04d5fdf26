"""How far distributions of different families are from one another.

Each divergence is what the second takes to tell of the first, less the entropy of the first; for what the
second takes, a few averages over the first are enough, which stand below.
"""

from __future__ import annotations

import math
from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor
from .bounded import ContinuousBernoulli, Exponential, Uniform
from .chances import Bernoulli, Binomial
from .counts import Poisson
from .gammas import Beta, Gamma
from .kl import register_kl
from .mapped import Gumbel
from .powers import Pareto
from .scaled import Laplace, Normal

__all__: list[str] = []


def _average_of_logarithm(p: Any) -> Any:
    if isinstance(p, Beta):
        total = p.concentration1 + p.concentration0
        return native.digamma(p.concentration1) - native.digamma(total)
    if isinstance(p, Exponential):
        return -p.rate.log() - Gumbel._EULER
    if isinstance(p, Gamma):
        return native.digamma(p.concentration) - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return _average_between(p.low, p.high)


def _average_between(low: Tensor, high: Tensor) -> Tensor:
    """Return the average of logarithms between bounds."""
    return (native.xlogy(high, high) - native.xlogy(low, low)) / (high - low) - 1


def _average_of_decay(p: Any, scale: Tensor) -> Any:
    """Return the average of exp(-x / scale)."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate + scale.reciprocal())
    if isinstance(p, Gamma):
        return (1 + (p.rate * scale).reciprocal()) ** -p.concentration
    if isinstance(p, Normal):
        return (0.5 * (p.scale / scale) ** 2 - p.loc / scale).exp()
    return scale * ((-p.low / scale).exp() - (-p.high / scale).exp()) / (p.high - p.low)


def _infinite_where(condition: Tensor, found: Tensor) -> Tensor:
    return native.where(condition, math.inf, found)


def _outside(p: Any, low: Any, high: Any) -> Any:
    """Tell where a uniform distribution reaches over bounds."""
    return (p.low < low) | (p.high > high)


def _kl_to_normal(p: Any, q: Normal) -> Any:
    squares = p.variance + (p.mean - q.loc) ** 2
    return 0.5 * (math.log(2 * math.pi) + squares / q.scale**2) + q.scale.log() - p.entropy()


def _kl_to_exponential(p: Any, q: Exponential) -> Any:
    found = q.rate * p.mean - q.rate.log() - p.entropy()
    return _infinite_where(_outside(p, 0, math.inf), found) if isinstance(p, Uniform) else found


def _kl_to_gamma(p: Any, q: Gamma) -> Any:
    scaled = q.concentration * q.rate.log() - native.lgamma(q.concentration)
    found = q.rate * p.mean - (q.concentration - 1) * _average_of_logarithm(p) - scaled - p.entropy()
    return _infinite_where(_outside(p, 0, math.inf), found) if isinstance(p, Uniform) else found


def _kl_to_gumbel(p: Any, q: Gumbel) -> Any:
    decay = (q.loc / q.scale).exp() * _average_of_decay(p, q.scale)
    return q.scale.log() + (p.mean - q.loc) / q.scale + decay - p.entropy()


@register_kl(Normal, Laplace)
def _kl_normal_laplace(p: Normal, q: Laplace) -> Tensor:
    apart = (p.loc - q.loc) / p.scale
    far = math.sqrt(2 / math.pi) * (-0.5 * apart**2).exp() + apart * native.erf(math.sqrt(0.5) * apart)
    return (2 * q.scale).log() + p.scale / q.scale * far - p.entropy()


@register_kl(Beta, Uniform)
def _kl_beta_uniform(p: Beta, q: Uniform) -> Tensor:
    return _infinite_where((q.low > 0) | (q.high < 1), (q.high - q.low).log() - p.entropy())


@register_kl(ContinuousBernoulli, Uniform)
def _kl_continuous_bernoulli_uniform(p: ContinuousBernoulli, q: Uniform) -> Tensor:
    # As torch has it, the bounds themselves do not count as inside.
    return _infinite_where((q.low >= 0) | (q.high <= 1), (q.high - q.low).log() - p.entropy())


def _kl_to_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Any:
    told = p.mean * q.logits + native.log1p(-q.probs) + q._log_norm()
    found = -told - p.entropy()
    return _infinite_where((p.low <= 0) | (p.high >= 1), found) if isinstance(p, Uniform) else found


@register_kl(Uniform, Beta)
def _kl_uniform_beta(p: Uniform, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    scaled = native.lgamma(a + b) - native.lgamma(a) - native.lgamma(b)
    rest = (b - 1) * _average_between(1 - p.high, 1 - p.low)
    told = (a - 1) * _average_of_logarithm(p) + rest + scaled
    return _infinite_where(_outside(p, 0, 1), -told - p.entropy())


def _kl_to_pareto(p: Any, q: Pareto) -> Any:
    scaled = q.alpha.log() + q.alpha * q.scale.log()
    least = p.scale if isinstance(p, Pareto) else p.low
    found = (q.alpha + 1) * _average_of_logarithm(p) - scaled - p.entropy()
    return _infinite_where(least < q.scale, found)


@register_kl(Bernoulli, Poisson)
def _kl_bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return q.rate - p.probs * q.rate.log() - p.entropy()


def _kl_infinite(p: Any, _q: Any) -> Tensor:
    """Return infinity: the second leaves out what the first has."""
    return native.full_like(p.mean, math.inf)


_WITH_MOMENTS = (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform)
_FORMULAS: tuple[tuple[Any, type, tuple[type, ...]], ...] = (
    (
        _kl_to_normal,
        Normal,
        (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform),
    ),
    (_kl_to_exponential, Exponential, (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform)),
    (_kl_to_gamma, Gamma, (Beta, Exponential, Pareto, Uniform)),
    (_kl_to_gumbel, Gumbel, (Exponential, Gamma, Normal, Uniform)),
    (_kl_to_continuous_bernoulli, ContinuousBernoulli, (Beta, ContinuousBernoulli, Uniform)),
    (_kl_to_pareto, Pareto, (Pareto, Uniform)),
    (_kl_infinite, Beta, (Exponential, Gamma, Gumbel, Laplace, Normal, Pareto)),
    (_kl_infinite, ContinuousBernoulli, (Exponential, Gamma, Gumbel, Laplace, Normal, Pareto)),
    (_kl_infinite, Pareto, (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Normal)),
    (_kl_infinite, Uniform, (Exponential, Gamma, Gumbel, Laplace, Normal, Pareto)),
    (_kl_infinite, Exponential, (Gumbel, Laplace, Normal)),
    (_kl_infinite, Gamma, (Gumbel, Laplace, Normal)),
    (_kl_infinite, Bernoulli, (Poisson,)),
    (_kl_infinite, Binomial, (Poisson,)),
)
for _formula, _second, _firsts in _FORMULAS:
    for _first in _firsts:
        register_kl(_first, _second)(_formula)
