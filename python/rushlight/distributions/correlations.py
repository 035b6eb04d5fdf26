"""Correlations of several variables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _rushlight as native
from .._rushlight import Size
from ..autograd.grad_mode import no_grad
from . import constraints
from .distribution import Distribution
from .gammas import Beta
from .utils import broadcast_all

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from .._rushlight import Tensor

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Triangles of correlation matrices, whose density is a power of the determinant of these.

    >>> import rushlight as torch
    >>> torch.distributions.LKJCholesky(2, 1.0).log_prob(torch.eye(2))
    tensor(-0.6931)
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # How long the part of each row before the diagonal is: the onion grows a layer a row.
        offset = native.arange(dim - 1, dtype=self.concentration.dtype)
        offset = native.cat([offset.new_zeros(1), offset])
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.shape, Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Iterable[int], _instance: Any = None) -> Self:
        """Return as many of the distribution as `batch_shape` says, on the same memory."""
        shape = Size(batch_shape)
        made: Any = type(self)(self.dim, self.concentration.expand(shape), validate_args=False)
        made._validate_args = self._validate_args
        return made  # type: ignore[no-any-return]

    def sample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples, through which no gradient passes."""
        shape = tuple(sample_shape)
        with no_grad():
            lengths = self._beta.sample(shape).unsqueeze(-1)
            normal = native.randn(self._extended_shape(shape), dtype=lengths.dtype).tril(-1)
            norms = (normal**2).sum(-1, keepdim=True).sqrt()
            # The first row has nothing before its diagonal.
            directions = normal / norms.clamp(min=native.finfo(normal.dtype).tiny)
            rows = lengths.sqrt() * directions
            rest = (1 - (rows**2).sum(-1)).clamp(min=native.finfo(rows.dtype).tiny).sqrt()
            return rows + rest.diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = self.dim - native.arange(2, self.dim + 1)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + order
        rows = self.dim - 1
        alpha = self.concentration + 0.5 * rows
        scale = (
            0.5 * rows * math.log(math.pi) + native.mvlgamma(alpha - 0.5, rows) - native.lgamma(alpha) * rows
        )
        return (powers * diagonal.log()).sum(-1) - scale
