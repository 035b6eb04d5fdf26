"""Distributions whose entropy follows from how their densities are normalised."""

from __future__ import annotations

from typing import Any

from .._rushlight import Tensor
from ..autograd.differentiate import grad
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution of a family of exponential form.

    A subclass gives its natural parameters, and the logarithm of what divides its density as a function of
    these.
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy, by the derivatives of the normaliser."""
        natural = [one.detach().requires_grad_() for one in self._natural_params]
        normaliser = self._log_normalizer(*natural)
        slopes = grad(normaliser.sum(), natural, create_graph=True)
        result: Tensor = -self._mean_carrier_measure + normaliser
        for parameter, slope in zip(natural, slopes, strict=True):
            result = result - (parameter * slope).reshape(*self._batch_shape, -1).sum(-1)
        return result
