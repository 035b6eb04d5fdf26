"""Distributions: densities, samples that gradients pass, and how far two are apart.

>>> import rushlight as torch
>>> mean = torch.zeros(2, requires_grad=True)
>>> torch.distributions.Normal(mean, 1.0).rsample().sum().backward()
>>> mean.grad
tensor([1., 1.])
"""

from .._module_aliases import add_module_aliases
from . import constraint_registry, constraints, transforms, utils
from . import crossed_kl as crossed_kl
from .bounded import ContinuousBernoulli, Exponential, Uniform
from .chances import Bernoulli, Binomial, Geometric
from .choices import Categorical, Multinomial, OneHotCategorical
from .circles import VonMises
from .constraint_registry import biject_to, transform_to
from .correlations import LKJCholesky
from .counts import Poisson
from .covariances import LowRankMultivariateNormal, Wishart
from .distribution import Distribution
from .elementwise_transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from .exp_family import ExponentialFamily
from .gammas import Beta, Chi2, Dirichlet, Gamma
from .halves import HalfCauchy, HalfNormal
from .joint_transforms import (
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from .kl import kl_divergence, register_kl
from .mapped import Gumbel, LogisticNormal, LogNormal
from .mixtures import MixtureSameFamily, NegativeBinomial
from .multivariate import Independent, MultivariateNormal
from .parted_transforms import (
    CatTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ReshapeTransform,
    StackTransform,
)
from .powers import FisherSnedecor, InverseGamma, Kumaraswamy, Pareto, Weibull
from .relaxed import (
    OneHotCategoricalStraightThrough,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from .scaled import Cauchy, Laplace, Normal
from .tails import GeneralizedPareto, StudentT
from .transformed import TransformedDistribution
from .transforms import ComposeTransform, Transform, identity_transform

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraint_registry",
    "constraints",
    "identity_transform",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
    "utils",
]

_HOMES: dict[str, dict[str, str]] = {
    "bernoulli": {".chances": "Bernoulli"},
    "beta": {".gammas": "Beta"},
    "binomial": {".chances": "Binomial"},
    "categorical": {".choices": "Categorical"},
    "cauchy": {".scaled": "Cauchy"},
    "chi2": {".gammas": "Chi2"},
    "dirichlet": {".gammas": "Dirichlet _Dirichlet_backward"},
    "fishersnedecor": {".powers": "FisherSnedecor"},
    "inverse_gamma": {".powers": "InverseGamma"},
    "lkj_cholesky": {".correlations": "LKJCholesky"},
    "kumaraswamy": {".powers": "Kumaraswamy"},
    "mixture_same_family": {".mixtures": "MixtureSameFamily"},
    "negative_binomial": {".mixtures": "NegativeBinomial"},
    "pareto": {".powers": "Pareto"},
    "relaxed_bernoulli": {
        ".relaxed": "LogitRelaxedBernoulli RelaxedBernoulli",
    },
    "relaxed_categorical": {
        ".relaxed": "ExpRelaxedCategorical RelaxedOneHotCategorical",
    },
    "continuous_bernoulli": {".bounded": "ContinuousBernoulli"},
    "generalized_pareto": {".tails": "GeneralizedPareto"},
    "logistic_normal": {".mapped": "LogisticNormal"},
    "lowrank_multivariate_normal": {
        ".covariances": "LowRankMultivariateNormal",
    },
    "von_mises": {".circles": "VonMises"},
    "wishart": {".covariances": "Wishart"},
    "weibull": {".powers": "Weibull"},
    "exponential": {".bounded": "Exponential"},
    "gamma": {".gammas": "Gamma"},
    "geometric": {".chances": "Geometric"},
    "gumbel": {".mapped": "Gumbel"},
    "half_normal": {".halves": "HalfNormal"},
    "independent": {".multivariate": "Independent"},
    "laplace": {".scaled": "Laplace"},
    "log_normal": {".mapped": "LogNormal"},
    "multinomial": {".choices": "Multinomial"},
    "multivariate_normal": {
        ".multivariate": "MultivariateNormal _batch_mahalanobis _batch_mv "
        "_precision_to_scale_tril=_root_of_inverse",
        ".utils": "_standard_normal lazy_property",
    },
    "normal": {".scaled": "Normal"},
    "one_hot_categorical": {
        ".choices": "OneHotCategorical",
        ".relaxed": "OneHotCategoricalStraightThrough",
    },
    "half_cauchy": {".halves": "HalfCauchy"},
    "poisson": {".counts": "Poisson"},
    "studentT": {".tails": "StudentT"},
    "transformed_distribution": {
        ".transformed": "TransformedDistribution",
    },
    "uniform": {".bounded": "Uniform"},
}
# Those who write distributions of their own find the base classes beside each of them, and what these use.
_BESIDE = {
    ".distribution": "Distribution",
    ".exp_family": "ExponentialFamily",
    ".utils": "broadcast_all lazy_property logits_to_probs probs_to_logits",
}
add_module_aliases(globals(), {name: {**_BESIDE, **home} for name, home in _HOMES.items()})
