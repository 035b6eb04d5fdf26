"""Distributions of how often, or how soon, something happens that has a chance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from .. import _rushlight as native
from .._functions.under_vmap import any_of_all
from .._rushlight import Size, Tensor
from ..autograd.grad_mode import no_grad
from . import constraints
from .distribution import OfChances, shape_of
from .exp_family import ExponentialFamily
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_or_logits, probs_to_logits

__all__ = ["Bernoulli", "Binomial", "Geometric"]


class _Chance(OfChances):
    """A distribution that is given by the probability of an event, or by its logit."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}

    def _given(self, probs: Any, logits: Any) -> Size:
        """Take the one that is given, and return the shape of the batch."""
        name, given = probs_or_logits(probs, logits)
        (chance,) = broadcast_all(given)
        setattr(self, name, chance)
        return shape_of(chance, given)

    def _counted(self, total_count: Any, probs: Any, logits: Any) -> Size:
        """Take how many trials there are as well."""
        name, given = probs_or_logits(probs, logits)
        count, chance = broadcast_all(total_count, given)
        self.total_count = count.type_as(chance)
        setattr(self, name, chance)
        return chance.shape

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds of the event."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of the event."""
        return logits_to_probs(self.logits, is_binary=True)


class Bernoulli(_Chance, ExponentialFamily):
    """One with a probability, else zero.

    >>> import rushlight as torch
    >>> torch.distributions.Bernoulli(0.25).log_prob(torch.tensor(1.0))
    tensor(-1.3863)
    """

    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(self._given(probs, logits), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        mode = (self.probs >= 0.5).to(self.probs.dtype)
        return mode.masked_fill(self.probs == 0.5, float("nan"))

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples."""
        with no_grad():
            return native.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -native.binary_cross_entropy_with_logits(logits, value, None, None, 0)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        return native.binary_cross_entropy_with_logits(self.logits, self.probs, None, None, 0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return zero and one."""
        values = native.arange(2, dtype=self._param.dtype).view(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values

    _mean_carrier_measure = 0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.exp().log1p()


class Geometric(_Chance):
    """How often something fails before it succeeds.

    >>> import rushlight as torch
    >>> torch.distributions.Geometric(0.5).log_prob(torch.tensor(1.0))
    tensor(-1.3863)
    """

    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(self._given(probs, logits), validate_args=validate_args)
        if self._validate_args and probs is not None and any_of_all(self.probs <= 0):
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) "
                f"of distribution {self!r} to be positive but found invalid values:\n"
                f"{self.probs[self.probs <= 0]}"
            )

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return native.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples."""
        with no_grad():
            shape, tiny = self._extended_shape(sample_shape), native.finfo(self.probs.dtype).tiny
            u = native.rand(shape, dtype=self.probs.dtype).clamp(min=tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        """Return the entropy."""
        found = native.binary_cross_entropy_with_logits(self.logits, self.probs, None, None, 0)
        return found / self.probs


class Binomial(_Chance):
    """How often something happens in so many trials.

    >>> import rushlight as torch
    >>> torch.distributions.Binomial(2, 0.5).log_prob(torch.tensor(1.0))
    tensor(-0.6931)
    """

    has_enumerate_support = True
    arg_constraints: ClassVar = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(self._counted(total_count, probs, logits), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The counts up to all trials."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.total_count * self.probs * (1 - self.probs)

    def _most(self) -> int:
        """Return the number of trials, which has to be the same of all."""
        most = int(self.total_count.max())
        if not int(self.total_count.min()) == most:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return most

    def entropy(self) -> Tensor:
        """Return the entropy."""
        found = self.log_prob(self.enumerate_support(False))
        return -(found.exp() * found).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return the counts up to all trials."""
        values = native.arange(1 + self._most(), dtype=self._param.dtype)
        values = values.view(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return native.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        count = self.total_count
        ways = native.lgamma(count + 1) - native.lgamma(value + 1) - native.lgamma(count - value + 1)
        positive = self.logits.clamp(min=0)
        rest = count * (positive + (-self.logits.abs()).exp().log1p())
        return ways + value * self.logits - rest
