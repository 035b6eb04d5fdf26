"""Distributions whose samples are mapped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from .._rushlight import Size, Tensor
from ..autograd.grad_mode import no_grad
from . import constraints
from .distribution import Distribution
from .multivariate import Independent
from .transforms import ComposeTransform, Transform
from .utils import sum_rightmost

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of the samples of another when maps have been applied to them.

    >>> import rushlight as torch
    >>> D = torch.distributions
    >>> made = D.TransformedDistribution(D.Normal(0.0, 1.0), [D.ExpTransform()])
    >>> made.log_prob(torch.tensor(2.0)) == D.LogNormal(0.0, 1.0).log_prob(torch.tensor(2.0))
    tensor(True)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}

    def __init__(
        self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None
    ) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(one, Transform) for one in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms: list[Transform] = transforms
        shape = base_distribution.batch_shape + base_distribution.event_shape
        dims = len(base_distribution.event_shape)
        whole = ComposeTransform(transforms)
        domain, codomain = whole.domain.event_dim, whole.codomain.event_dim
        if len(shape) < domain:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {domain}, but got {shape}."
            )
        mapped = whole.forward_shape(shape)
        expanded = whole.inverse_shape(mapped)
        if shape != expanded:
            base_distribution = base_distribution.expand(expanded[: len(expanded) - dims])
        if domain > dims:
            base_distribution = Independent(base_distribution, domain - dims)
        self.base_dist = base_distribution
        cut = len(mapped) - max(codomain, dims + codomain - domain)
        super().__init__(mapped[:cut], mapped[cut:], validate_args=validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether gradients pass samples."""
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self) -> Any:
        """What samples may be."""
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        more = len(self.event_shape) - found.event_dim
        return constraints.independent(found, more) if more > 0 else found

    def expand(self, batch_shape: Iterable[int], _instance: Any = None) -> Self:
        """Return as many of the distribution as `batch_shape` says, on the same memory."""
        made = super().expand(batch_shape)
        shape = Size([*batch_shape, *self.event_shape])
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        base = self.base_dist
        made.base_dist = base.expand(shape[: len(shape) - len(base.event_shape)])
        return made

    def _mapped(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples, through which no gradient passes."""
        with no_grad():
            return self._mapped(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        return self._mapped(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density: the other's, less how much the maps stretch space."""
        if self._validate_args:
            self._validate_sample(value)
        dims, found = len(self.event_shape), 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            stretched = transform.log_abs_det_jacobian(x, value)
            found = found - sum_rightmost(stretched, dims - transform.domain.event_dim)  # type: ignore[assignment]
            value = x
        return found + sum_rightmost(self.base_dist.log_prob(value), dims - len(self.base_dist.event_shape))

    def _turned(self, chance: Tensor) -> Tensor:
        """Return the other chance where the maps turn the order round."""
        sign = ComposeTransform(self.transforms).sign
        if isinstance(sign, int) and sign == 1:
            return chance
        turned: Tensor = sign * (chance - 0.5) + 0.5
        return turned

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of samples up to a value."""
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value below which samples are with a probability."""
        return self._mapped(self.base_dist.icdf(self._turned(value)))
