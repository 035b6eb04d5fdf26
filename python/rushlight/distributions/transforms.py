"""Maps of samples: what a distribution becomes when each of its samples is mapped.

A map has an inverse, and the logarithm of how much it stretches space, which densities are divided by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._lazy import on_first_use
from .._rushlight import Tensor
from . import constraints
from .utils import sum_rightmost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from .elementwise_transforms import AbsTransform as AbsTransform
    from .elementwise_transforms import AffineTransform as AffineTransform
    from .elementwise_transforms import ExpTransform as ExpTransform
    from .elementwise_transforms import PowerTransform as PowerTransform
    from .elementwise_transforms import SigmoidTransform as SigmoidTransform
    from .elementwise_transforms import SoftplusTransform as SoftplusTransform
    from .elementwise_transforms import TanhTransform as TanhTransform
    from .joint_transforms import IndependentTransform as IndependentTransform
    from .joint_transforms import LowerCholeskyTransform as LowerCholeskyTransform
    from .joint_transforms import PositiveDefiniteTransform as PositiveDefiniteTransform
    from .joint_transforms import SoftmaxTransform as SoftmaxTransform
    from .joint_transforms import StickBreakingTransform as StickBreakingTransform
    from .parted_transforms import CatTransform as CatTransform
    from .parted_transforms import CorrCholeskyTransform as CorrCholeskyTransform
    from .parted_transforms import CumulativeDistributionTransform as CumulativeDistributionTransform
    from .parted_transforms import ReshapeTransform as ReshapeTransform
    from .parted_transforms import StackTransform as StackTransform
else:
    __getattr__, __dir__ = on_first_use(
        globals(),
        places={
            ".elementwise_transforms": "AbsTransform AffineTransform ExpTransform PowerTransform "
            "SigmoidTransform SoftplusTransform TanhTransform _clipped_sigmoid",
            ".joint_transforms": "IndependentTransform LowerCholeskyTransform PositiveDefiniteTransform "
            "SoftmaxTransform StickBreakingTransform",
            ".parted_transforms": "CatTransform CorrCholeskyTransform CumulativeDistributionTransform "
            "ReshapeTransform StackTransform",
        },
    )

__all__ = [
    "ComposeTransform",
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

    @property
    def sign(self) -> Any:
        """Whether order is kept (1) or turned round (-1), if the map is of single numbers."""
        raise NotImplementedError

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached_x_y: tuple[Any, Any] = None, None
        self._inv: Transform | None = None
        # Those that are modules too become so here.
        super().__init__()

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
        if x is not self._cached_x_y[0]:
            self._cached_x_y = x, self._call(x)
        y: Tensor = self._cached_x_y[1]
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        if y is not self._cached_x_y[1]:
            self._cached_x_y = self._inverse(y), y
        x: Tensor = self._cached_x_y[0]
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
