"""Distributions of covariance matrices, and of vectors of which one is a diagonal and a few directions."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _rushlight as native
from .. import linalg
from .._functions import composites as _composites
from .._functions.diagonals import tril_indices
from .._rushlight import Size
from . import constraints
from .distribution import AroundLocation
from .exp_family import ExponentialFamily
from .gammas import Chi2
from .multivariate import _Rooted
from .utils import lazy_property, standard_normal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._rushlight import Tensor

__all__ = ["LowRankMultivariateNormal", "Wishart"]

# How often samples that came out singular are drawn again.
_TRIES = 10


def _logarithms(root: Tensor) -> Tensor:
    """Return half the logarithm of the determinant of a matrix, by its triangular root."""
    return root.diagonal(0, -2, -1).log().sum(-1)


class LowRankMultivariateNormal(AroundLocation):
    """The normal distribution whose covariance is `cov_factor @ cov_factor.T` and a diagonal.

    Nothing larger than the rank is factored.

    >>> import rushlight as torch
    >>> D = torch.distributions
    >>> normal = D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2))
    >>> normal.log_prob(torch.zeros(2))
    tensor(-2.3872)
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _broadcast: ClassVar = ("_capacitance_tril",)

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        try:
            mean, self.cov_factor, diagonal = native.broadcast_tensors(
                [loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1)]
            )
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = mean[..., 0], diagonal[..., 0]
        self._capacitance_tril = _rooted(cov_factor.mT / cov_diag.unsqueeze(-2) @ cov_factor)
        super().__init__(self.loc.shape[:-1], event, validate_args=validate_args)

    @lazy_property
    def variance(self) -> Tensor:
        """The variances of the elements."""
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangle that times its transpose is the covariance."""
        # The diagonal is taken out first: what remains has no eigenvalue below one.
        roots = self.cov_diag.sqrt().unsqueeze(-1)
        scaled = self.cov_factor / roots
        return roots * _rooted(scaled @ scaled.mT)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        part = linalg.solve_triangular(self._capacitance_tril, self._weighted(), upper=False)
        return self.cov_diag.reciprocal().diag_embed() - part.mT @ part

    def _weighted(self) -> Tensor:
        return self.cov_factor.mT / self.cov_diag.unsqueeze(-2)

    def rsample(self, sample_shape: Iterable[int] = ()) -> Tensor:
        """Draw samples as functions of the parameters."""
        shape = self._extended_shape(sample_shape)
        along = standard_normal(Size([*shape[:-1], self.cov_factor.shape[-1]]), self.loc.dtype)
        each = standard_normal(shape, self.loc.dtype)
        moved = (self.cov_factor @ along.unsqueeze(-1)).squeeze(-1)
        return self.loc + moved + self.cov_diag.sqrt() * each

    def _log_determinant(self) -> Tensor:
        return 2 * _logarithms(self._capacitance_tril) + self.cov_diag.log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        apart = value - self.loc
        within = linalg.solve_triangular(
            self._capacitance_tril, self._weighted() @ apart.unsqueeze(-1), upper=False
        )
        squares = (apart.pow(2) / self.cov_diag).sum(-1) - within.pow(2).sum((-2, -1))
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_determinant() + squares)

    def entropy(self) -> Tensor:
        """Return the entropy."""
        found = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_determinant())
        return found.expand(self._batch_shape) if self._batch_shape else found


def _rooted(matrix: Tensor) -> Tensor:
    """Return the triangular root of a matrix and the unit matrix."""
    return linalg.cholesky(matrix + native.eye(matrix.shape[-1], dtype=matrix.dtype))


class Wishart(_Rooted, ExponentialFamily):
    """The distribution of sums of `df` squares of normal vectors: matrices that are positive definite.

    >>> import rushlight as torch
    >>> torch.distributions.Wishart(3.0, torch.eye(2)).log_prob(torch.eye(2))
    tensor(-3.5310)
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> dict[str, Any]:  # type: ignore[override]
        """What parameters have to be."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = self._only(
            AssertionError,
            covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
            scale_tril=scale_tril,
        )
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch, event = matrix.shape[:-2], matrix.shape[-2:]
        if isinstance(df, (int, float)):
            self.df = native.tensor(df, dtype=matrix.dtype)
        else:
            batch = Size(_composites.broadcast_shapes(batch, df.shape))
            self.df = df.expand(batch)
        if bool(self.df.le(event[-1] - 1).any()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        setattr(self, name, matrix.expand(*batch, *event))
        if bool(self.df.lt(event[-1]).any()):
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for "
                "ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        super().__init__(batch, event, validate_args=validate_args)
        self._take_root(name)
        orders = native.arange(event[-1], dtype=self._unbroadcasted_scale_tril.dtype)
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1).expand(*batch, event[-1]) - orders)

    def _spread_df(self) -> Tensor:
        return self.df[..., None, None]

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self._spread_df() * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """The most likely matrix; not numbers where there is none."""
        factor = self._spread_df() - self._event_shape[-1] - 1
        return factor.masked_fill(factor <= 0, math.nan) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        """The variances of the elements."""
        matrix = self.covariance_matrix
        diagonal = matrix.diagonal(0, -2, -1)
        return self._spread_df() * (matrix.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _drawn(self, sample_shape: Iterable[int]) -> Tensor:
        """Draw the root of a sample: by roots of chi-squares on its diagonal, normal numbers beneath."""
        shape, size = Size(sample_shape), self._event_shape[-1]
        roots = self._dist_chi2.rsample(shape).sqrt()
        noise = roots.clamp(min=native.finfo(roots.dtype).eps).diag_embed()
        rows, columns = tril_indices(size, size, offset=-1)
        below = native.randn(*shape, *self._batch_shape, size * (size - 1) // 2, dtype=noise.dtype)
        noise[..., rows, columns] = below
        root = self._unbroadcasted_scale_tril @ noise
        return root @ root.mT

    def rsample(self, sample_shape: Iterable[int] = (), max_try_correction: int | None = None) -> Tensor:
        """Draw samples as functions of the parameters; those that came out singular are drawn again.

        Samples that are fine are drawn once more too, as elsewhere: the same seed gives the same samples.
        """
        sample = self._drawn(sample_shape)
        again = self._in_any(self.support.check(sample))
        if not bool(again.any()):
            return sample
        warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(_TRIES if max_try_correction is None else max_try_correction):
            anew = self._drawn(again[again].shape)
            sample[again] = anew
            again = again.masked_scatter(again, self._in_any(~self.support.check(anew)))
            if not bool(again.any()):
                break
        return sample

    def _in_any(self, condition: Tensor) -> Tensor:
        """Return whether a condition holds for any matrix of the batch."""
        return (
            condition.amax([-1 - dim for dim in range(len(self._batch_shape))])
            if self._batch_shape
            else condition
        )

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        df, size = self.df, self._event_shape[-1]
        whole = df * (size * math.log(2) / 2 + _logarithms(self._unbroadcasted_scale_tril)) + native.mvlgamma(
            df / 2, size
        )
        traces = native.cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(0, -2, -1).sum(-1)
        found: Tensor = (df - size - 1) / 2 * linalg.slogdet(value).logabsdet - traces / 2 - whole
        return found

    def entropy(self) -> Tensor:
        """Return the entropy."""
        df, size = self.df, self._event_shape[-1]
        halves = native.arange(size, dtype=df.dtype) / 2
        slopes = native.digamma((df / 2).unsqueeze(-1) - halves).sum(-1)
        whole = (size + 1) * (size * math.log(2) / 2 + _logarithms(self._unbroadcasted_scale_tril))
        found: Tensor = whole + native.mvlgamma(df / 2, size) - (df - size - 1) / 2 * slopes + df * size / 2
        return found

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        size = self._event_shape[-1]
        half = y + (size + 1) / 2
        spread = -linalg.slogdet(-2 * x).logabsdet + math.log(2) * size
        found: Tensor = half * spread + native.mvlgamma(half, size)
        return found
