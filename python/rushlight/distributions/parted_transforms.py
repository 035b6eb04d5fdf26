"""Maps that take each part of a tensor their own way, and maps of correlations, shapes and probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Size
from ..nn.functional import softplus
from . import constraints
from .joint_transforms import _OfEvents
from .transforms import Transform
from .utils import sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._rushlight import Tensor
    from .distribution import Distribution

__all__ = [
    "CatTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ReshapeTransform",
    "StackTransform",
]


class ReshapeTransform(Transform):
    """The same numbers in another shape.

    >>> import rushlight as torch
    >>> torch.distributions.ReshapeTransform((4,), (2, 2))(torch.arange(4.0))
    tensor([[0., 1.],
            [2., 3.]])
    """

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))

    def _arguments(self) -> tuple[Any, ...]:
        return self.in_shape, self.out_shape

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return zeros: nothing is stretched."""
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of what is made of a tensor of a shape."""
        return _exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of what a tensor of a shape is made of."""
        return _exchanged(shape, self.out_shape, self.in_shape)


def _exchanged(shape: Any, before: Size, after: Size) -> Size:
    """Return a shape with other last dimensions."""
    if len(shape) < len(before):
        raise ValueError("Too few dimensions on input")
    cut = len(shape) - len(before)
    if tuple(shape[cut:]) != before:
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {before}")
    return Size([*shape[:cut], *after])


class CorrCholeskyTransform(_OfEvents):
    """Real numbers as the triangular root of a matrix of correlations.

    Each row is a vector of length one: hyperbolic tangents share what those before them left of it.

    >>> import rushlight as torch
    >>> root = torch.distributions.CorrCholeskyTransform()(torch.tensor([0.5]))
    >>> (root @ root.T).diagonal()
    tensor([1., 1.])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = native.finfo(x.dtype).eps
        shares = vec_to_tril_matrix(x.tanh().clamp(min=eps - 1, max=1 - eps), -1)
        left = (1 - shares**2).sqrt().cumprod(-1)
        before = native.cat([native.ones_like(left[..., :1]), left[..., :-1]], -1)
        return (shares + native.eye(shares.shape[-1], dtype=shares.dtype)) * before

    def _inverse(self, y: Tensor) -> Tensor:
        left = 1 - (y * y).cumsum(-1)
        before = native.cat([native.ones_like(left[..., :1]), left[..., :-1]], -1)
        share = tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(before, -1).sqrt()
        return (share.log1p() - share.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return how much what lies below the diagonal is stretched."""
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), -2)
        tangents = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return 0.5 * left.log().sum(-1) + tangents

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape, with a matrix for the vector."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size([*shape[:-1], size, size])

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape, with a vector for the matrix."""
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size([*shape[:-2], shape[-1] * (shape[-1] - 1) // 2])


class CumulativeDistributionTransform(Transform):
    """The probability of samples up to a number.

    >>> import rushlight as torch
    >>> D = torch.distributions
    >>> D.CumulativeDistributionTransform(D.Normal(0.0, 1.0))(torch.tensor(0.0))
    tensor(0.5000)
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """What samples may be."""
        return self.distribution.support

    def _arguments(self) -> tuple[Any, ...]:
        return (self.distribution,)

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        return self.distribution.log_prob(x)


class _OfParts(Transform):
    """Maps that each take a part of a tensor."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(one, Transform) for one in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [one.with_cache(cache_size) if cache_size else one for one in tseq]
        self.dim = dim

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all maps have an inverse."""
        return all(one.bijective for one in self.transforms)

    def _parts(self, name: str, whole: Tensor) -> list[Tensor]:
        raise NotImplementedError

    def _joined(self, parts: list[Tensor], dim: int) -> Tensor:
        raise NotImplementedError

    def _require(self, name: str, whole: Tensor, length: int, shown: str) -> None:
        if not -whole.dim() <= self.dim < whole.dim():
            raise AssertionError(f"dim {self.dim} out of range for tensor with {whole.dim()} dimensions")
        if whole.shape[self.dim] != length:
            raise AssertionError(
                f"{name}.size({self.dim}) = {whole.shape[self.dim]} must equal {shown} {length}"
            )

    def _mapped(self, name: str, whole: Tensor, way: Callable[[Transform], Any]) -> Tensor:
        parts = zip(self.transforms, self._parts(name, whole), strict=True)
        return self._joined([way(one)(part) for one, part in parts], self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return self._mapped("x", x, lambda one: one)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._mapped("y", y, lambda one: one.inv)

    def _stretched(self, x: Tensor, y: Tensor) -> list[Tensor]:
        parts = zip(self.transforms, self._parts("x", x), self._parts("y", y), strict=True)
        return [one.log_abs_det_jacobian(before, after) for one, before, after in parts]


class CatTransform(_OfParts):
    """Maps of parts that lie one after the other along a dimension.

    >>> import rushlight as torch
    >>> D = torch.distributions
    >>> D.CatTransform([D.ExpTransform(), D.identity_transform], lengths=[1, 2])(torch.zeros(3))
    tensor([1., 0., 0.])
    """

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
            )

    def _arguments(self) -> tuple[Any, ...]:
        return self.transforms, self.dim, self.lengths

    @property
    def event_dim(self) -> int:
        """How many of the last dimensions are mapped together."""
        return max(one.event_dim for one in self.transforms)

    @property
    def length(self) -> int:
        """How long the dimension is."""
        return sum(self.lengths)

    @property
    def domain(self) -> Any:
        """What parts may be."""
        return constraints.cat([one.domain for one in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        """What parts become."""
        return constraints.cat([one.codomain for one in self.transforms], self.dim, self.lengths)

    def _parts(self, name: str, whole: Tensor) -> list[Tensor]:
        self._require(name, whole, self.length, "length")
        return list(whole.split(self.lengths, self.dim))

    def _joined(self, parts: list[Tensor], dim: int) -> Tensor:
        return native.cat(parts, dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return what the maps say: side by side, or summed if the dimension is within an event."""
        most = self.event_dim
        found = [
            sum_rightmost(part, most - one.event_dim)
            for one, part in zip(self.transforms, self._stretched(x, y), strict=True)
        ]
        dim = self.dim - x.dim() * (self.dim >= 0) + most
        return self._joined(found, dim) if dim < 0 else sum(found[1:], found[0])


class StackTransform(_OfParts):
    """Maps of slices along a dimension.

    >>> import rushlight as torch
    >>> D = torch.distributions
    >>> D.StackTransform([D.ExpTransform(), D.identity_transform])(torch.zeros(2))
    tensor([1., 0.])
    """

    def _arguments(self) -> tuple[Any, ...]:
        return self.transforms, self.dim

    @property
    def domain(self) -> Any:
        """What slices may be."""
        return constraints.stack([one.domain for one in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        """What slices become."""
        return constraints.stack([one.codomain for one in self.transforms], self.dim)

    def _parts(self, name: str, whole: Tensor) -> list[Tensor]:
        self._require(name, whole, len(self.transforms), "len(transforms)")
        return list(whole.unbind(self.dim))

    def _joined(self, parts: list[Tensor], dim: int) -> Tensor:
        return native.stack(parts, dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return what the maps say, stacked."""
        return self._joined(self._stretched(x, y), self.dim)
