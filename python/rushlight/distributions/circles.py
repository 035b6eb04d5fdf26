"""Distributions of angles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _rushlight as native
from .. import special
from ..autograd.grad_mode import no_grad
from . import constraints
from .distribution import AroundLocation
from .utils import broadcast_all, lazy_property

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._rushlight import Tensor

__all__ = ["VonMises"]


class VonMises(AroundLocation):
    """Angles around one of them, the closer the greater `concentration` is.

    >>> import rushlight as torch
    >>> torch.distributions.VonMises(torch.tensor(0.0), torch.tensor(1.0)).log_prob(torch.tensor(0.0))
    tensor(-1.0738)
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @lazy_property
    def variance(self) -> Tensor:
        """The variance, on the circle: one less the length of the mean direction."""
        return 1 - special.i1e(self.concentration) / special.i0e(self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        # i0e is I₀ less its growth, which is taken off the cosine instead.
        above = self.concentration * ((value - self.loc).cos() - 1)
        return above - math.log(2 * math.pi) - special.i0e(self.concentration).log()

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples: proposals of a wrapped Cauchy distribution, of which some are taken.

        In double precision whatever the type: in single, none would be taken for small concentrations.
        """
        with no_grad():
            mean, kappa = self.loc.double(), self.concentration.double()
            tau = 1 + (1 + 4 * kappa**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
            proposed = native.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))
            angle = native.zeros(self._extended_shape(sample_shape), dtype=mean.dtype)
            done = native.zeros_like(angle, dtype=native.bool)
            while not done.all():
                first, second, third = native.rand((3, *angle.shape), dtype=mean.dtype).unbind()
                z = (math.pi * first).cos()
                cosine = (1 + proposed * z) / (proposed + z)
                c = kappa * (proposed - cosine)
                taken = ((c * (2 - c) - second) > 0) | ((c / second).log() + 1 - c >= 0)
                angle = native.where(taken, (third - 0.5).sign() * cosine.acos(), angle)
                done = done | taken
            turned = (angle + math.pi + mean) % (2 * math.pi) - math.pi
            return turned.to(self.loc.dtype)
