"""Choices that are not quite made, so that gradients pass them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .. import _rushlight as native
from . import constraints
from .chances import _Chance
from .choices import Categorical, OneHotCategorical
from .distribution import Distribution
from .elementwise_transforms import ExpTransform, SigmoidTransform
from .transformed import TransformedDistribution
from .utils import broadcast_all, clamp_probs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from .._rushlight import Tensor

__all__ = [
    "ExpRelaxedCategorical",
    "LogitRelaxedBernoulli",
    "OneHotCategoricalStraightThrough",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
]


class _Relaxed(Distribution):
    """A distribution of one temperature, however many there are of it."""

    temperature: Any

    def expand(self, batch_shape: Iterable[int], _instance: Any = None) -> Self:
        """Return as many of the distribution as `batch_shape` says, on the same memory."""
        made = super().expand(batch_shape)
        made.temperature = self.temperature
        return made


class LogitRelaxedBernoulli(_Relaxed, _Chance):
    """The logarithm of the odds of something that happens more or less."""

    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(self._given(probs, logits), validate_args=validate_args)

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        uniform = clamp_probs(native.rand(shape, dtype=probs.dtype))
        odds = uniform.log() - (-uniform).log1p() + probs.log() - (-probs).log1p()
        drawn: Tensor = odds / self.temperature
        return drawn

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        apart = logits - value * self.temperature
        found: Tensor = native.as_tensor(self.temperature).log() + apart - 2 * apart.exp().log1p()
        return found


class _Carried(TransformedDistribution):
    """A relaxed distribution whose samples are carried elsewhere, with the parameters that it has."""

    base_dist: LogitRelaxedBernoulli | ExpRelaxedCategorical

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The logarithms of the chances, or of their odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The chances."""
        return self.base_dist.probs


class RelaxedBernoulli(_Carried):
    """Something that happens more or less, the less so the higher the temperature.

    >>> import rushlight as torch
    >>> made = torch.distributions.RelaxedBernoulli(torch.tensor(1.0), 0.5)
    >>> made.log_prob(torch.tensor(0.5))
    tensor(0.)
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    base_dist: LogitRelaxedBernoulli

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(_Relaxed):
    """The logarithms of a choice that is not quite made."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        shape = self._categorical.batch_shape
        super().__init__(shape, self._categorical.logits.shape[-1:], validate_args=validate_args)

    @property
    def logits(self) -> Tensor:
        """The logarithms of the chances."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """The chances."""
        return self._categorical.probs

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        shape = self._extended_shape(sample_shape)
        uniform = clamp_probs(native.rand(shape, dtype=self.logits.dtype))
        scores = (self.logits - (-uniform.log()).log()) / self.temperature
        drawn: Tensor = scores - scores.logsumexp(-1, keepdim=True)
        return drawn

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        count = self._categorical.logits.shape[-1]
        logits, value = broadcast_all(self.logits, value)
        temperature = native.as_tensor(self.temperature)
        scale = native.full_like(temperature, float(count)).lgamma() - temperature.log().mul(-(count - 1))
        score = logits - value * temperature
        return (score - score.logsumexp(-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(_Carried):
    """A choice that is not quite made, as shares of one.

    >>> import rushlight as torch
    >>> made = torch.distributions.RelaxedOneHotCategorical(torch.tensor(1.0), torch.ones(2))
    >>> made.log_prob(torch.tensor([0.5, 0.5]))
    tensor(0.)
    """

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    base_dist: ExpRelaxedCategorical

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """A choice that is made, through which gradients pass as if it were its chances."""

    has_rsample = True

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples; gradients are those of the chances."""
        samples = self.sample(sample_shape)
        return samples + (self.probs - self.probs.detach())
