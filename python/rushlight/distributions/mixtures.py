"""One of several distributions of a kind, and how often something fails before it succeeds often enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .. import _rushlight as native
from .._rushlight import Size
from ..autograd.grad_mode import no_grad
from ..nn.functional.activations import logsigmoid
from . import constraints
from .chances import _Chance
from .choices import Categorical
from .distribution import Distribution
from .gammas import Gamma

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from .._rushlight import Tensor

__all__ = ["MixtureSameFamily", "NegativeBinomial"]


class NegativeBinomial(_Chance):
    """How often something happens before it has not happened so many times.

    >>> import rushlight as torch
    >>> torch.distributions.NegativeBinomial(2, 0.5).log_prob(torch.tensor(1.0))
    tensor(-1.3863)
    """

    arg_constraints: ClassVar = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(self._counted(total_count, probs, logits), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples: counts at a rate that is drawn itself."""
        with no_grad():
            rate = Gamma(self.total_count, (-self.logits).exp(), validate_args=False).sample(sample_shape)
            return native.poisson(rate)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        count = self.total_count
        chances = count * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        ways = native.lgamma(count + value) - native.lgamma(1.0 + value) - native.lgamma(count)
        # Nothing happens before nothing: certain, though lgamma of zero has no bound.
        return chances + ways.masked_fill(count + value == 0.0, 0.0)


class MixtureSameFamily(Distribution):
    """One of several distributions of a kind, which stand along the last dimension of the batch.

    >>> import rushlight as torch
    >>> D = torch.distributions
    >>> parts = D.Normal(torch.tensor([-1.0, 1.0]), torch.ones(2))
    >>> D.MixtureSameFamily(D.Categorical(torch.ones(2)), parts).log_prob(torch.tensor(0.0))
    tensor(-1.4189)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of torch.distributions.Distribution"
            )
        mixed, parts = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for one, other in zip(reversed(mixed), reversed(parts), strict=False):
            if one != 1 and other not in (1, one):
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixed}) is not compatible with "
                    f"`component_distribution.batch_shape`({parts})"
                )
        count, found = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if count != found:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({found})"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = count
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(parts, component_distribution.event_shape, validate_args=validate_args)

    @property
    def mixture_distribution(self) -> Categorical:
        """Which of them."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The distributions."""
        return self._component_distribution

    @constraints.dependent_property
    def support(self) -> Any:
        """What one of them allows."""
        return constraints.mixture_same_family(self._component_distribution.support)

    def expand(self, batch_shape: Iterable[int], _instance: Any = None) -> Self:
        """Return as many of the distribution as `batch_shape` says, on the same memory."""
        shape = Size(batch_shape)
        parts = self._component_distribution.expand(Size([*shape, self._num_component]))
        made: Any = type(self)(self._mixture_distribution.expand(shape), parts, validate_args=False)
        made._validate_args = self._validate_args
        return made  # type: ignore[no-any-return]

    def _beside(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1 - self._event_ndims)

    def _shares(self) -> Tensor:
        """Return the chances of the parts, with dimensions for what a sample has."""
        chances = self._mixture_distribution.probs
        return chances.reshape(*chances.shape, *[1] * self._event_ndims)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self._shares() * self._component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        """The variance: that of the parts, and that of their means."""
        parts, shares = self._component_distribution, self._shares()
        within = shares * parts.variance
        between = shares * (parts.mean - self._beside(self.mean)) ** 2
        return within.sum(-1 - self._event_ndims) + between.sum(-1 - self._event_ndims)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability that a sample is not greater than a value."""
        found = self._component_distribution.cdf(self._beside(value))
        return (found * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability, or its density."""
        if self._validate_args:
            self._validate_sample(value)
        found = self._component_distribution.log_prob(self._beside(value))
        return (found + self._mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples, through which no gradient passes."""
        shape = tuple(sample_shape)
        with no_grad():
            which = self._mixture_distribution.sample(shape)
            samples = self._component_distribution.sample(shape)
            ones = [1] * self._event_ndims
            place = which.reshape(*which.shape, 1, *ones)
            dim = len(shape) + len(self.batch_shape)
            wanted = [*shape, *self.batch_shape, 1, *self.event_shape]
            return samples.gather(dim, place.expand(wanted)).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
