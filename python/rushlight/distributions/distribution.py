"""The base of distributions: shapes, checks and what follows from densities and samples."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from .._functions.under_vmap import holds_for_all
from .._rushlight import Size, Tensor
from ..autograd.grad_mode import no_grad
from . import constraints
from .utils import lazy_property

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Distribution"]


class Distribution:
    """A distribution, or as many as `batch_shape` says, of samples of shape `event_shape`.

    A subclass names its parameters and their constraints in `arg_constraints`.
    """

    has_rsample = False
    has_enumerate_support = False
    # Attributes that serve any batch as they are, and may have fewer dimensions than the batch.
    _broadcast: ClassVar[tuple[str, ...]] = ()
    _validate_args = True
    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}
    support: Any = None

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Choose whether parameters and samples are checked when nothing else is said."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Iterable[int] = (),
        event_shape: Iterable[int] = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property):
                continue
            value = getattr(self, name)
            valid = constraint.check(value)
            if not holds_for_all(valid):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid "
                    f"values:\n{value if value.dim() else value.item()}"
                )

    @property
    def batch_shape(self) -> Size:
        """How many distributions there are, by dimension."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a sample of one distribution."""
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def expand(self, batch_shape: Iterable[int], _instance: Any = None) -> Self:
        """Return as many of the distribution as `batch_shape` says, on the same memory."""
        new = copy.copy(self)
        shape = Size(batch_shape)
        for name, value in self.__dict__.items():
            if name in self._broadcast:
                continue
            if isinstance(value, Tensor):
                rest = value.shape[len(self._batch_shape) :]
                setattr(new, name, value.expand(Size([*shape, *rest])))
            elif isinstance(value, Distribution):
                more = value.batch_shape[len(self._batch_shape) :]
                setattr(new, name, value.expand(Size([*shape, *more])))
        new._batch_shape = shape
        return new

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples, through which no gradient passes."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters, through which gradients pass."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Draw `n` samples."""
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning, stacklevel=2)
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability, or its density, of values."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability that a sample is not greater than a value."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Return the value that samples exceed with the other probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values that samples may have, along a first dimension."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Return the exponential of the entropy."""
        return self.entropy().exp()

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """Return an object for `expand`: a new one of this class, unless that is made otherwise."""
        if _instance is not None:
            return _instance
        if type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                f"must also define a custom .expand() method."
            )
        return type(self).__new__(type(self))

    def _extended_shape(self, sample_shape: Iterable[int] = ()) -> Size:
        return Size([*Size(sample_shape), *self._batch_shape, *self._event_shape])

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        ranks = len(self._event_shape)
        if value.shape[value.dim() - ranks :] != self._event_shape or value.dim() < ranks:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )
        shape = value.shape[: value.dim() - ranks]
        pairs = zip(reversed(shape), reversed(self._batch_shape), strict=False)
        if any(i not in (1, j) and j != 1 for i, j in pairs):
            raise ValueError(
                "Value is not broadcastable with batch_shape+event_shape: "
                f"{value.shape} vs {self._extended_shape()}."
            )
        support = self.support
        if support is None:
            return
        if not holds_for_all(support.check(value)):
            raise ValueError(
                "Expected value argument "
                f"({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n"
                f"{value if value.dim() else value.item()}"
            )

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = []
        for name in names:
            value = self.__dict__[name]
            shown.append(f"{name}: {value.item() if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"


def number(value: Any, *others: Any) -> bool:
    """Tell whether all parameters are plain numbers."""
    return all(isinstance(one, (int, float)) for one in (value, *others))


class OfChances(Distribution):
    """A distribution that is given by probabilities, or by their logits."""

    @property
    def _param(self) -> Tensor:
        """The ones that were given: the others are calculated when they are asked for."""
        found: Tensor = self.__dict__["probs" if "probs" in self.__dict__ else "logits"]
        return found

    @property
    def param_shape(self) -> Size:
        """The shape of what was given."""
        return self._param.shape

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        """Make a tensor of the type of what was given."""
        return self._param.new(*args, **kwargs)


class AroundLocation(Distribution):
    """A distribution whose mean and mode are its parameter `loc`."""

    loc: Tensor

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The mode: the value at which the density is greatest."""
        return self.loc


def shape_of(parameter: Tensor, *given: Any) -> Size:
    """Return the shape of parameters that were broadcast; plain numbers have none."""
    return Size() if number(*given) else parameter.shape
