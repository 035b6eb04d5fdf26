"""Maps of samples: what a distribution becomes when each of its samples is mapped.

A map has an inverse, and the logarithm of how much it stretches space, which densities are divided by.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._functions import composites as _composites
from .._lazy import on_first_use
from .._rushlight import Size, Tensor
from . import constraints
from .utils import broadcast_all, sum_rightmost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from .joint_transforms import IndependentTransform as IndependentTransform
    from .joint_transforms import LowerCholeskyTransform as LowerCholeskyTransform
    from .joint_transforms import PositiveDefiniteTransform as PositiveDefiniteTransform
    from .joint_transforms import SoftmaxTransform as SoftmaxTransform
    from .joint_transforms import StickBreakingTransform as StickBreakingTransform
else:
    __getattr__, __dir__ = on_first_use(
        globals(),
        places={
            ".joint_transforms": "IndependentTransform LowerCholeskyTransform PositiveDefiniteTransform "
            "SoftmaxTransform StickBreakingTransform"
        },
    )

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


class Transform:
    """A map. A subclass writes `_call`, `_inverse` and `log_abs_det_jacobian`.

    With `cache_size=1` the last pair is kept, so that going back is free, and exact.
    """

    bijective = False
    domain: Any
    codomain: Any
    sign: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached: tuple[Any, Any] = None, None
        self._inv: Transform | None = None

    @property
    def event_dim(self) -> int:
        """How many of the last dimensions are mapped together."""
        if self.domain.event_dim == self.codomain.event_dim:
            return int(self.domain.event_dim)
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    def _arguments(self) -> tuple[Any, ...]:
        """Return what another such map is made of."""
        return ()

    def with_cache(self, cache_size: int = 1) -> Self:
        """Return such a map that keeps the last pair."""
        if self._cache_size == cache_size:
            return self
        make: Any = type(self)
        made: Self = make(*self._arguments(), cache_size=cache_size)
        return made

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._call(x)
        if x is not self._cached[0]:
            self._cached = x, self._call(x)
        y: Tensor = self._cached[1]
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        if y is not self._cached[1]:
            self._cached = self._inverse(y), y
        x: Tensor = self._cached[0]
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithm of how much space is stretched where `x` becomes `y`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of what is made of a tensor of a shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of what a tensor of a shape is made of."""
        return shape


class _InverseTransform(Transform):
    _inv: Transform

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform
        self.domain, self.codomain = transform.codomain, transform.domain
        self.bijective = transform.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)


class ComposeTransform(Transform):
    """Several maps, one after the other.

    >>> import rushlight as torch
    >>> from rushlight.distributions.transforms import AffineTransform, ComposeTransform, ExpTransform
    >>> map = ComposeTransform([AffineTransform(1.0, 2.0), ExpTransform()])
    >>> map.inv(map(torch.tensor(0.5)))
    tensor(0.5000)
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = parts
        self.bijective = all(part.bijective for part in parts)
        self.domain = self.codomain = constraints.real
        if parts:
            self.domain = _widened(
                parts[0].domain, [(part.domain, part.codomain) for part in reversed(parts)]
            )
            self.codomain = _widened(parts[-1].codomain, [(part.codomain, part.domain) for part in parts])

    @property
    def sign(self) -> Any:
        """Whether order is kept (1) or turned round (-1)."""
        found = 1
        for part in self.parts:
            found = found * part.sign
        return found

    @property
    def inv(self) -> Transform:
        """The inverse."""
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def _arguments(self) -> tuple[Any, ...]:
        return (self.parts,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the sum of what the maps say."""
        total, dims = None, self.domain.event_dim
        for number, part in enumerate(self.parts):
            after = y if number == len(self.parts) - 1 else part(x)
            term = sum_rightmost(part.log_abs_det_jacobian(x, after), dims - part.domain.event_dim)
            total = term if total is None else total + term
            dims += part.codomain.event_dim - part.domain.event_dim
            x = after
        return native.zeros_like(x) if total is None else total

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of what is made of a tensor of a shape."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of what a tensor of a shape is made of."""
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _widened(found: Any, parts: list[tuple[Any, Any]]) -> Any:
    """Return a constraint on as many dimensions as all parts together map, from the far end to this one."""
    dims = parts[0][1].event_dim
    for near, far in parts:
        dims = max(dims + near.event_dim - far.event_dim, near.event_dim)
    return constraints.independent(found, dims - found.event_dim) if dims > found.event_dim else found


identity_transform = ComposeTransform([])


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


class SigmoidTransform(_OfOne):
    """The logistic function, kept off zero and one."""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _inside(x.sigmoid())

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
