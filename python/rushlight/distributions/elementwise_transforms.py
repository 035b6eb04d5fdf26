"""Maps of each number by itself: exponentials, powers, what moves and scales."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._functions import composites as _composites
from .._rushlight import Size, Tensor
from . import constraints
from .transforms import Transform
from .utils import broadcast_all, sum_rightmost

if TYPE_CHECKING:
    pass

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "TanhTransform",
]


class _OfOne(Transform):
    """A map of single numbers that has no parameters, and keeps their order."""

    domain = constraints.real
    codomain: Any = constraints.positive
    bijective = True
    sign = 1

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)


class ExpTransform(_OfOne):
    """The exponential."""

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return `x`."""
        return x


def _clipped_sigmoid(x: Tensor) -> Tensor:
    return _inside(x.sigmoid())


class SigmoidTransform(_OfOne):
    """The logistic function, kept off zero and one."""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        y = _inside(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithm of y·(1 - y)."""
        return -_softplus(-x) - _softplus(x)


class SoftplusTransform(_OfOne):
    """The logarithm of one more than the exponential."""

    def _call(self, x: Tensor) -> Tensor:
        return _softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithm of the logistic function."""
        return -_softplus(-x)


class TanhTransform(_OfOne):
    """The hyperbolic tangent."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithm of 1 - y², exact far out too."""
        return 2.0 * (math.log(2.0) - x - _softplus(-2.0 * x))


class AbsTransform(Transform):
    """The magnitude: it has no inverse, and goes back to one of both."""

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class PowerTransform(Transform):
    """A power of positive numbers."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Tensor:
        """Whether order is kept (1) or turned round (-1)."""
        return self.exponent.sign()

    def _arguments(self) -> tuple[Any, ...]:
        return (self.exponent,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithm of the slope."""
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of what is made of a tensor of a shape."""
        return _composites.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """`loc + scale * x`."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale = loc, scale
        self._event_dim = event_dim
        real = constraints.independent(constraints.real, event_dim) if event_dim else constraints.real
        self.domain = self.codomain = real

    @property
    def sign(self) -> Any:
        """Whether order is kept (1) or turned round (-1)."""
        return self.scale.sign() if isinstance(self.scale, Tensor) else (self.scale > 0) - (self.scale < 0)

    def _arguments(self) -> tuple[Any, ...]:
        return self.loc, self.scale, self._event_dim

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs = ((self.loc, other.loc), (self.scale, other.scale))
        return all(bool(native.as_tensor(mine == theirs).all()) for mine, theirs in pairs)

    def _call(self, x: Tensor) -> Tensor:
        y: Tensor = self.loc + self.scale * x
        return y

    def _inverse(self, y: Tensor) -> Tensor:
        x: Tensor = (y - self.loc) / self.scale
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithm of the scale."""
        if isinstance(self.scale, Tensor):
            found = self.scale.abs().log()
        else:
            found = native.full_like(x, math.log(abs(self.scale)))
        found = sum_rightmost(found, self._event_dim)
        return found.expand(x.shape[: x.dim() - self._event_dim])

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of what is made of a tensor of a shape."""
        parameters = (getattr(one, "shape", Size()) for one in (self.loc, self.scale))
        return _composites.broadcast_shapes(shape, *parameters)

    inverse_shape = forward_shape


def _softplus(x: Tensor) -> Tensor:
    found: Tensor = native._nn.softplus(x)
    return found


def _inside(y: Tensor) -> Tensor:
    """Return probabilities that are neither zero nor one."""
    limits = native.finfo(y.dtype)
    return y.clamp(min=limits.tiny, max=1.0 - limits.eps)
