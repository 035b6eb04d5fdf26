"""Which values parameters and samples may have."""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor

__all__ = [
    "Constraint",
    "boolean",
    "dependent",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "less_than",
    "lower_cholesky",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "real",
    "real_vector",
    "simplex",
    "unit_interval",
]


class Constraint:
    """What values may be; `check` tells of each whether it is so."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value, or every vector or matrix of `event_dim` dimensions, whether it is allowed."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__.lstrip("_") + "()"


class _Bounded(Constraint):
    """Values between bounds, of which either may be missing."""

    names: tuple[str, ...] = ()

    def __init__(self, *bounds: Any) -> None:
        self.bounds: tuple[Tensor, ...] = bounds
        for name, bound in zip(self.names, bounds, strict=True):
            setattr(self, name, bound)

    def __repr__(self) -> str:
        pairs = zip(self.names, map(_shown, self.bounds), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={bound}' for name, bound in pairs)})"


def _shown(bound: Any) -> Any:
    return bound.item() if isinstance(bound, native.Tensor) and bound.numel() == 1 else bound


class _Dependent(Constraint):
    """What depends on the other parameters, and is not checked by itself."""


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class IntegerInterval(_Bounded):
    """Integers between two bounds, which are among them."""

    is_discrete = True
    names = ("lower_bound", "upper_bound")

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return (value % 1 == 0) & (self.bounds[0] <= value) & (value <= self.bounds[1])


class IntegerGreaterThan(_Bounded):
    """Integers from a bound on."""

    is_discrete = True
    names = ("lower_bound",)

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return (value % 1 == 0) & (value >= self.bounds[0])


class _Multinomial(_Bounded):
    is_discrete = True
    event_dim = 1
    names = ("upper_bound",)

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.bounds[0])

    def __repr__(self) -> str:
        return "Multinomial()"


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value.eq(value)


class GreaterThan(_Bounded):
    """Numbers greater than a bound."""

    names = ("lower_bound",)

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return self.bounds[0] < value


class GreaterThanEq(_Bounded):
    """Numbers from a bound on."""

    names = ("lower_bound",)

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return self.bounds[0] <= value


class LessThan(_Bounded):
    """Numbers less than a bound."""

    names = ("upper_bound",)

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return value < self.bounds[0]


class Interval(_Bounded):
    """Numbers between two bounds, which are among them."""

    names = ("lower_bound", "upper_bound")

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return (self.bounds[0] <= value) & (value <= self.bounds[1])


class HalfOpenInterval(Interval):
    """Numbers between two bounds, of which the upper one is not among them."""

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return (self.bounds[0] <= value) & (value < self.bounds[1])


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        lower = (value.tril() == value).flatten(-2).all(-1)
        return lower & (value.diagonal(0, -2, -1) > 0).all(-1)


class _PositiveDefinite(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        from ..linalg import cholesky_ex

        symmetric = native.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)
        factored: Tensor = cholesky_ex(value).info == 0
        return symmetric & factored


class _IndependentConstraint(Constraint):
    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            wanted = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {wanted} but got {value.dim()}")
        if self.reinterpreted_batch_ndims > 0:
            result = result.flatten(-self.reinterpreted_batch_ndims).all(-1)
        return result

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


boolean = _Boolean()
dependent = _Dependent()
greater_than = GreaterThan
greater_than_eq = GreaterThanEq
half_open_interval = HalfOpenInterval
independent = _IndependentConstraint
integer_interval = IntegerInterval
interval = Interval
less_than = LessThan
lower_cholesky = _LowerCholesky()
multinomial = _Multinomial
nonnegative = GreaterThanEq(0.0)
nonnegative_integer = IntegerGreaterThan(0)
one_hot = _OneHot()
positive = GreaterThan(0.0)
positive_definite = _PositiveDefinite()
positive_integer = IntegerGreaterThan(1)
real = _Real()
real_vector = independent(real, 1)
simplex = _Simplex()
unit_interval = Interval(0.0, 1.0)
