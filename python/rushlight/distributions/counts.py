"""How often something happens in a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from .. import _rushlight as native
from .._rushlight import Tensor
from ..autograd.grad_mode import no_grad
from . import constraints
from .distribution import shape_of
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """How often something happens that does so at a rate.

    >>> import rushlight as torch
    >>> torch.distributions.Poisson(2.0).log_prob(torch.tensor(1.0))
    tensor(-1.3069)
    """

    arg_constraints: ClassVar = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(shape_of(self.rate, rate), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.rate

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.rate

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples."""
        with no_grad():
            return native.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.rate.log(),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.exp()
