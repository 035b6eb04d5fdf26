"""Distributions of one of several, and of how often each of them is chosen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from .. import _rushlight as native
from .._rushlight import Size, Tensor
from ..autograd.grad_mode import no_grad
from . import constraints
from .chances import Binomial
from .distribution import OfChances
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_or_logits, probs_to_logits

__all__ = ["Categorical", "Multinomial", "OneHotCategorical"]


class _Choice(OfChances):
    """A distribution that is given by the probabilities of one of several, or by logits."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def _choose(self, probs: Tensor | None, logits: Tensor | None) -> Tensor:
        name, given = probs_or_logits(probs, logits)
        if not isinstance(given, Tensor) or given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if name == "probs":
            self.probs = given / given.sum(-1, keepdim=True)
        else:
            self.logits = given - given.logsumexp(-1, keepdim=True)
        return given

    @lazy_property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits)

    def entropy(self) -> Tensor:
        """Return the entropy of one choice."""
        least = native.finfo(self.logits.dtype).min
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)

    def _draw(self, sample_shape: Iterable[int]) -> Tensor:
        """Draw the numbers of events."""
        shape = Size(sample_shape)
        rows = self.probs.reshape(-1, self.probs.shape[-1])
        with no_grad():
            drawn = native.multinomial(rows, shape.numel(), True).T
        return drawn.reshape([*shape, *self.probs.shape[:-1]])


class Categorical(_Choice):
    """The number of one of several events.

    >>> import rushlight as torch
    >>> torch.distributions.Categorical(torch.tensor([1.0, 3.0])).log_prob(torch.tensor(0))
    tensor(-1.3863)
    """

    has_enumerate_support = True

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = self._choose(probs, logits)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The numbers of the events."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        """Not a number."""
        return native.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype)

    @property
    def mode(self) -> Tensor:
        """The most likely event."""
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        """Not a number."""
        return self.mean

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples."""
        return self._draw(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        places = value.long().unsqueeze(-1)
        places, logits = native.broadcast_tensors([places, self.logits])
        return logits.gather(-1, places[..., :1]).squeeze(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return the numbers of all events."""
        values = native.arange(self._num_events).view(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class OneHotCategorical(_Choice):
    """One of several events, as a vector with a one at its place.

    >>> import rushlight as torch
    >>> torch.distributions.OneHotCategorical(torch.tensor([1.0, 3.0])).log_prob(torch.tensor([1.0, 0.0]))
    tensor(-1.3863)
    """

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = self._choose(probs, logits)
        super().__init__(given.shape[:-1], given.shape[-1:], validate_args=validate_args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @property
    def _categorical(self) -> Categorical:
        """The same choice as a number, by the name under which programs know it."""
        return Categorical(probs=self.probs)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The most likely event."""
        return self._hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.probs * (1 - self.probs)

    def _hot(self, places: Tensor) -> Tensor:
        zeros = native.zeros((*places.shape, self.probs.shape[-1]), dtype=self.probs.dtype)
        return zeros.scatter(-1, places.unsqueeze(-1), 1.0)

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples."""
        return self._hot(self._draw(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        value, logits = native.broadcast_tensors([value, self.logits])
        return logits.gather(-1, value.argmax(-1, True)).squeeze(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return the vectors of all events."""
        count = self.event_shape[0]
        values = native.eye(count, dtype=self._param.dtype)
        values = values.view(count, *[1] * len(self.batch_shape), count)
        return values.expand(count, *self.batch_shape, count) if expand else values


class Multinomial(_Choice):
    """How often each of several events happens in so many trials.

    >>> import rushlight as torch
    >>> torch.distributions.Multinomial(2, torch.tensor([1.0, 1.0])).log_prob(torch.tensor([1.0, 1.0]))
    tensor(-0.6931)
    """

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        given = self._choose(probs, logits)
        super().__init__(given.shape[:-1], given.shape[-1:], validate_args=validate_args)

    def __repr__(self) -> str:
        return "Multinomial()"

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Counts that are not more than the trials."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples."""
        drawn = self._draw((self.total_count, *sample_shape)).movedim(0, -1)
        counts = native.zeros((*drawn.shape[:-1], self.probs.shape[-1]), dtype=self.probs.dtype)
        return counts.scatter_add(-1, drawn, native.ones_like(drawn, dtype=counts.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -float("inf")), 0)
        ways = native.lgamma(value.sum(-1) + 1) - native.lgamma(value + 1).sum(-1)
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        counts = Binomial(self.total_count, probs=self.probs, validate_args=False)
        support = counts.enumerate_support(expand=False)[1:]
        orders = (counts.log_prob(support).exp() * native.lgamma(support + 1)).sum([0, -1])
        trials = native.tensor(self.total_count, dtype=self.probs.dtype)
        return trials * super().entropy() - native.lgamma(trials + 1) + orders
