"""Maps from any numbers to those that a constraint allows, for whoever optimises or samples parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints
from .elementwise_transforms import AffineTransform, ExpTransform, SigmoidTransform
from .joint_transforms import (
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from .parted_transforms import CatTransform, CorrCholeskyTransform, StackTransform
from .transforms import ComposeTransform, Transform, identity_transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Which map leads to which constraint; others can be registered.

    >>> import rushlight as torch
    >>> from rushlight.distributions import biject_to, constraints
    >>> map = biject_to(constraints.positive)
    >>> map.inv(map(torch.tensor(0.5)))
    tensor(0.5000)
    """

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Transform]] = {}

    def register(self, constraint: Any, factory: Callable[[Any], Transform] | None = None) -> Any:
        """Make the maps of a class of constraints by a function, also as its decorator."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        """Return the map to what a constraint allows."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _above(constraint: Any) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.lower_bound, 1)])


def _below(constraint: Any) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1)])


def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


def _independent(registry: ConstraintRegistry) -> Callable[[Any], Transform]:
    return lambda constraint: IndependentTransform(
        registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims
    )


def _parted(registry: ConstraintRegistry, kind: Any, *names: str) -> Callable[[Any], Transform]:
    def make(constraint: Any) -> Transform:
        made: Transform = kind(
            [registry(one) for one in constraint.cseq], *[getattr(constraint, name) for name in names]
        )
        return made

    return make


for _registry in (biject_to, transform_to):
    _registry.register(constraints.real, lambda constraint: identity_transform)
    _registry.register(constraints.independent, _independent(_registry))
    _registry.register(constraints.greater_than, _above)
    _registry.register(constraints.greater_than_eq, _above)
    _registry.register(constraints.less_than, _below)
    _registry.register(constraints.interval, _between)
    _registry.register(constraints.half_open_interval, _between)
    _registry.register(constraints.cat, _parted(_registry, CatTransform, "dim", "lengths"))
    _registry.register(constraints.stack, _parted(_registry, StackTransform, "dim"))

biject_to.register(constraints.simplex, lambda constraint: StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda constraint: PositiveDefiniteTransform())
biject_to.register(constraints.corr_cholesky, lambda constraint: CorrCholeskyTransform())
transform_to.register(constraints.corr_cholesky, lambda constraint: CorrCholeskyTransform())
