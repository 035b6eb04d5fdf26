"""References of reductions: what torch's take, in the order in which they take it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from .._prims_common import reduction_dims, set_correction
from .._prims_common.wrappers import out_wrapper

__all__ = ["all", "amax", "amin", "any", "mean", "prod", "std", "std_mean", "sum", "var", "var_mean"]

Dims = int | Sequence[int] | None


def _dims(a: Tensor, dim: Dims) -> list[int]:
    """Return the dimensions to reduce: all of them, if none are named."""
    named = (dim,) if isinstance(dim, int) else dim or None
    return sorted(reduction_dims(a.shape, named))


def _one_by_one(reduce: Any, a: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    for one in reversed(_dims(a, dim) if a.dim() else [0]):
        a = reduce(a, one, keepdim)
    return a


@out_wrapper()
def all(a: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Tell whether all elements are true."""
    return _one_by_one(native.all, a, dim, keepdim)


@out_wrapper()
def any(a: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Tell whether an element is true."""
    return _one_by_one(native.any, a, dim, keepdim)


@out_wrapper()
def amax(a: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the greatest elements."""
    return native.amax(a, _dims(a, dim), keepdim)


@out_wrapper()
def amin(a: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the least elements."""
    return native.amin(a, _dims(a, dim), keepdim)


@out_wrapper()
def sum(a: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return sums."""
    return native.sum(a, _dims(a, dim), keepdim, dtype=dtype)


@out_wrapper()
def prod(a: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return products."""
    whole = not (a.is_floating_point() or a.is_complex())
    a = a.to(dtype or (native.int64 if whole else a.dtype))
    return _one_by_one(native.prod, a, dim, keepdim)


@out_wrapper()
def mean(a: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return means."""
    return native.mean(a, _dims(a, dim), keepdim, dtype=dtype)


def _spread(reduce: Any, a: Tensor, dim: Dims, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    counted = set_correction(unbiased, correction)
    return reduce(a, _dims(a, dim), correction=counted, keepdim=keepdim)


@out_wrapper()
def var(
    a: Tensor, dim: Dims = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """Return variances."""
    return _spread(native.var, a, dim, unbiased, keepdim, correction)  # type: ignore[no-any-return]


@out_wrapper()
def std(
    a: Tensor, dim: Dims = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """Return standard deviations."""
    return _spread(native.std, a, dim, unbiased, keepdim, correction)  # type: ignore[no-any-return]


def var_mean(
    a: Tensor, dim: Dims = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """Return variances and means."""
    return _spread(native.var_mean, a, dim, unbiased, keepdim, correction)  # type: ignore[no-any-return]


def std_mean(
    a: Tensor, dim: Dims = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """Return standard deviations and means."""
    return _spread(native.std_mean, a, dim, unbiased, keepdim, correction)  # type: ignore[no-any-return]
