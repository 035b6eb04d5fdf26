"""Which values parameters and samples may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "mixture_same_family",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
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

    def __repr__(self) -> str:
        bounds = [
            f"{name}={_shown(getattr(self, name))}"
            for name in ("lower_bound", "upper_bound")
            if hasattr(self, name)
        ]
        return f"{type(self).__name__}({', '.join(bounds)})"


class _BoundedBelow(_Bounded):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound: Tensor = lower_bound


class _BoundedAbove(_Bounded):
    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound: Tensor = upper_bound


class _BoundedTwice(_Bounded):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound: Tensor = lower_bound
        self.upper_bound: Tensor = upper_bound


def _shown(bound: Any) -> Any:
    return bound.item() if isinstance(bound, native.Tensor) and bound.numel() == 1 else bound


class _Dependent(Constraint):
    """What depends on the other parameters, and is not checked by itself."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        """Whether values are counted, if that was said."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return bool(self._is_discrete)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """How many dimensions a value has, if that was said."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return int(self._event_dim)

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """Say more of it."""
        given = self._is_discrete if is_discrete is NotImplemented else is_discrete
        dims = self._event_dim if event_dim is NotImplemented else event_dim
        return _Dependent(is_discrete=given, event_dim=dims)

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A property whose value is a constraint, and which is one on its class."""

    def __init__(
        self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        property.__init__(self, fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> _DependentProperty:  # type: ignore[override]
        """Decorate a function, of whose constraint more was said."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Any) -> bool:
    """Tell whether a constraint depends on the other parameters."""
    return isinstance(constraint, _Dependent)


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class IntegerInterval(_BoundedTwice):
    """Integers between two bounds, which are among them."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class IntegerGreaterThan(_BoundedBelow):
    """Integers from a bound on."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Multinomial(_BoundedAbove):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)

    def __repr__(self) -> str:
        return "Multinomial()"


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value.eq(value)


class GreaterThan(_BoundedBelow):
    """Numbers greater than a bound."""

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return self.lower_bound < value


class GreaterThanEq(_BoundedBelow):
    """Numbers from a bound on."""

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return self.lower_bound <= value


class LessThan(_BoundedAbove):
    """Numbers less than a bound."""

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return value < self.upper_bound


class Interval(_BoundedTwice):
    """Numbers between two bounds, which are among them."""

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class HalfOpenInterval(Interval):
    """Numbers between two bounds, of which the upper one is not among them."""

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is one."""
        return (self.lower_bound <= value) & (value < self.upper_bound)


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


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _CorrCholesky(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        tolerance = native.finfo(value.dtype).eps * value.shape[-1] * 10
        rows = ((value.detach() ** 2).sum(-1).sqrt() - 1).abs() <= tolerance
        return _LowerCholesky().check(value) & rows.all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        is_square = value.shape[-2] == value.shape[-1]
        return native.full(value.shape[:-2], is_square, dtype=native.bool)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if not square.all():
            return square
        return native.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        from ..linalg import eigvalsh

        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        found: Tensor = eigvalsh(value).ge(0).all(-1)
        return found


class _MixtureSameFamily(Constraint):
    """What the parts of a mixture allow."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        """Whether values are counted."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """How many dimensions a value has."""
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether each part allows it."""
        beside = value.unsqueeze(-1 - self.event_dim)
        return self.base_constraint.check(beside).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _Cat(Constraint):
    """Parts along a dimension, each with a constraint of its own."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        self.cseq = list(cseq)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        self.dim = dim
        self.is_discrete = any(one.is_discrete for one in self.cseq)
        self.event_dim = max(one.event_dim for one in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is allowed."""
        parts = value.split(self.lengths, self.dim)
        return native.cat([one.check(part) for one, part in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(Constraint):
    """Parts beside each other, each with a constraint of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.is_discrete = any(one.is_discrete for one in self.cseq)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """How many dimensions a value has."""
        dims = max(one.event_dim for one in self.cseq)
        return dims + 1 if self.dim + dims < 0 else dims

    def check(self, value: Tensor) -> Tensor:
        """Tell of every value whether it is allowed."""
        parts = value.unbind(self.dim)
        return native.stack([one.check(part) for one, part in zip(self.cseq, parts, strict=True)], self.dim)


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
cat = _Cat
corr_cholesky = _CorrCholesky()
dependent = _Dependent()
dependent_property = _DependentProperty
greater_than = GreaterThan
greater_than_eq = GreaterThanEq
half_open_interval = HalfOpenInterval
independent = _IndependentConstraint
integer_interval = IntegerInterval
interval = Interval
less_than = LessThan
lower_cholesky = _LowerCholesky()
lower_triangular = _LowerTriangular()
mixture_same_family = MixtureSameFamilyConstraint = _MixtureSameFamily
multinomial = _Multinomial
nonnegative = GreaterThanEq(0.0)
nonnegative_integer = IntegerGreaterThan(0)
one_hot = _OneHot()
positive = GreaterThan(0.0)
positive_definite = _PositiveDefinite()
positive_integer = IntegerGreaterThan(1)
positive_semidefinite = _PositiveSemidefinite()
real = _Real()
real_vector = independent(real, 1)
simplex = _Simplex()
square = _Square()
stack = _Stack
symmetric = _Symmetric()
unit_interval = Interval(0.0, 1.0)

# What torch calls the classes that one gives parameters to.
_GreaterThan, _GreaterThanEq, _LessThan = GreaterThan, GreaterThanEq, LessThan
_HalfOpenInterval, _Interval = HalfOpenInterval, Interval
_IntegerGreaterThan, _IntegerInterval = IntegerGreaterThan, IntegerInterval
