"""How far one distribution is from another (the divergence of Kullback and Leibler)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _rushlight as native
from .. import linalg
from .._rushlight import Tensor
from ..autograd.differentiate import grad
from .bounded import Exponential, Uniform
from .chances import Bernoulli, Binomial, Geometric
from .choices import Categorical, OneHotCategorical
from .counts import Poisson
from .covariances import LowRankMultivariateNormal, Wishart
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .gammas import Beta, Dirichlet, Gamma
from .halves import HalfNormal
from .mapped import Gumbel
from .multivariate import Independent, MultivariateNormal
from .scaled import Cauchy, Laplace, Normal
from .transformed import TransformedDistribution
from .utils import sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict[tuple[type, type], Any] = {}


def register_kl(type_p: type[Distribution], type_q: type[Distribution]) -> Callable[[Any], Any]:
    """Use the decorated function for two kinds of distributions."""
    if not (isinstance(type_p, type) and isinstance(type_q, type)):
        raise TypeError("issubclass() arg 1 must be a class")

    def decorator(function: Any) -> Any:
        _KL_REGISTRY[type_p, type_q] = function
        return function

    return decorator


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the divergence of `p` from `q`.

    >>> import rushlight as torch
    >>> Normal = torch.distributions.Normal
    >>> torch.distributions.kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    for kind_p in type(p).__mro__:
        for kind_q in type(q).__mro__:
            if (kind_p, kind_q) in _KL_REGISTRY:
                found: Tensor = _KL_REGISTRY[kind_p, kind_q](p, q)
                return found
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


@register_kl(Normal, Normal)
def _normals(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale) ** 2
    apart = ((p.loc - q.loc) / q.scale) ** 2
    return 0.5 * (ratio + apart - 1 - ratio.log())


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Bernoulli, q: Bernoulli) -> Tensor:
    soft = native._nn.softplus
    happens = p.probs * (soft(-q.logits) - soft(-p.logits))
    fails = (1 - p.probs) * (soft(q.logits) - soft(p.logits))
    happens = native.where(q.probs == 0, math.inf, happens)
    happens = native.where(p.probs == 0, 0.0, happens)
    fails = native.where(q.probs == 1, math.inf, fails)
    return happens + native.where(p.probs == 1, 0.0, fails)


@register_kl(Poisson, Poisson)
def _poissons(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Binomial, Binomial)
def _binomials(p: Binomial, q: Binomial) -> Tensor:
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return native.where(p.total_count > q.total_count, math.inf, p.total_count * each)


@register_kl(Geometric, Geometric)
def _geometrics(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normals(p: HalfNormal, q: HalfNormal) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Categorical, Categorical)
def _categoricals(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = native.where((q.probs == 0).expand_as(terms), math.inf, terms)
    terms = native.where((p.probs == 0).expand_as(terms), 0.0, terms)
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hots(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    found: Tensor = _categoricals(p, q)
    return found


@register_kl(Uniform, Uniform)
def _uniforms(p: Uniform, q: Uniform) -> Tensor:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return native.where((q.low > p.low) | (q.high < p.high), math.inf, found)


@register_kl(Exponential, Exponential)
def _exponentials(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplaces(p: Laplace, q: Laplace) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchys(p: Cauchy, q: Cauchy) -> Tensor:
    found = ((p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2).log()
    return found - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbels(p: Gumbel, q: Gumbel) -> Tensor:
    ratio = p.scale / q.scale
    apart, own = q.loc / q.scale, p.loc / q.scale
    middle = -ratio.log() - apart + own
    crossed = (apart + native.lgamma(1 + ratio) - own).exp()
    return middle + ratio * Gumbel._EULER + crossed - (1 + Gumbel._EULER)


@register_kl(Gamma, Gamma)
def _gammas(p: Gamma, q: Gamma) -> Tensor:
    scales = q.concentration * (p.rate / q.rate).log()
    sizes = native.lgamma(q.concentration) - native.lgamma(p.concentration)
    slopes = (p.concentration - q.concentration) * native.digamma(p.concentration)
    return scales + sizes + slopes + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Dirichlet, Dirichlet)
def _dirichlets(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    sizes = native.lgamma(a.sum(-1)) - native.lgamma(b.sum(-1))
    parts = (native.lgamma(a) - native.lgamma(b)).sum(-1)
    slopes = native.digamma(a) - native.digamma(a.sum(-1)).unsqueeze(-1)
    return sizes - parts + ((a - b) * slopes).sum(-1)


@register_kl(Beta, Beta)
def _betas(p: Beta, q: Beta) -> Tensor:
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normals(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    spread = q._spread() - p._spread()
    root, other = native.broadcast_tensors([q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril])
    shape = (linalg.solve_triangular(root, other, upper=False) ** 2).sum((-2, -1))
    apart = (q.loc - p.loc).unsqueeze(-1)
    moved = (linalg.solve_triangular(q._unbroadcasted_scale_tril, apart, upper=False) ** 2).sum((-2, -1))
    return spread + 0.5 * (shape + moved - p.event_shape[0])


@register_kl(Independent, Independent)
def _independents(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _low_rank_normals(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        kind = "Low Rank" if type(p) is type(q) else "(Low Rank)"
        raise ValueError(
            f"KL-divergence between two {kind} Multivariate Normals with"
            + " " * 26
            + "different event shapes cannot be computed"
        )
    wide = (MultivariateNormal(one.loc, scale_tril=one.scale_tril, validate_args=False) for one in (p, q))
    found: Tensor = _multivariate_normals(*wide)
    return found


@register_kl(Wishart, Wishart)
def _wisharts(p: Wishart, q: Wishart) -> Tensor:
    size, half = p.event_shape[-1], 0.5 * p.df
    roots = q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril
    spread = [root.diagonal(0, -2, -1).log().sum(-1) for root in roots]
    shape = (linalg.solve_triangular(*native.broadcast_tensors(roots), upper=False) ** 2).sum((-2, -1))
    slopes = native.digamma(half.unsqueeze(-1) - 0.5 * native.arange(size, dtype=half.dtype)).sum(-1)
    sizes = native.mvlgamma(0.5 * q.df, size) - native.mvlgamma(half, size)
    return q.df * (spread[0] - spread[1]) + half * (shape - size) + sizes + 0.5 * (p.df - q.df) * slopes


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """Return how far the normaliser of the second is above its tangent at the parameters of the first."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot"
            + " " * 29
            + "be computed using Bregman divergences"
        )
    first = [one.detach().requires_grad_() for one in p._natural_params]
    second = q._natural_params
    normaliser = p._log_normalizer(*first)
    slopes = grad(normaliser.sum(), first, create_graph=True)
    found: Tensor = q._log_normalizer(*second) - normaliser
    for one, other, slope in zip(first, second, slopes, strict=True):
        found = found - sum_rightmost((other - one) * slope, len(q.event_shape))
    return found
