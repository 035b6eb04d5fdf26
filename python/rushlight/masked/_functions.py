"""Reductions and normalisations that see only the elements where a mask holds.

The others become what changes nothing: zero in a sum, infinity in a least element. Gradients reach only
elements that were seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor
from ._layouts import of_any_layout

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []

_INF = float("inf")
# Of which no element is known that changes nothing.
_WITHOUT_LIMITS = (native.bool, native.uint16, native.uint32, native.uint64)


def _mask_of(input: Tensor, mask: Any) -> Tensor:
    """Return the mask in the shape of the elements; without one all are seen."""
    if mask is None:
        return native.ones(input.shape, dtype=native.bool)
    if mask.shape != input.shape and mask.ndim > input.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
        )
    expanded: Tensor = mask.bool().expand(input.shape)
    return expanded


def _dims(input: Tensor, dim: Any) -> list[int]:
    """Return the dimensions that are meant: all, if none is said."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return list(range(input.ndim))
    given = [dim] if isinstance(dim, int) else list(dim)
    for one in given:
        most = max(input.ndim, 1)
        if one >= most or one < -most:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {one})"
            )
    found = [one % input.ndim for one in given] if input.ndim else []
    if len(set(found)) < len(found):
        raise RuntimeError(
            f"dim={next(one for one in found if found.count(one) > 1)} appears multiple times in the list of "
            "dims"
        )
    return found


def _line(input: Tensor, dim: Any) -> int:
    """Return the dimension to go along: the first of those that are meant."""
    if isinstance(dim, list) and not dim:
        raise IndexError("tuple index out of range")
    return min(_dims(input, dim), default=0)


def _seen(input: Any, mask: Any, neutral: Any, dtype: Any = None) -> tuple[Tensor, Tensor]:
    """Return elements with those that are not seen replaced, and the mask."""
    if hasattr(input, "get_mask"):
        input, mask = input.get_data(), input.get_mask() if mask is None else mask
    values = input if dtype is None else input.to(dtype)
    if mask is None:
        return values, _mask_of(input, None)
    mask = _mask_of(input, mask)
    filling = neutral(values) if callable(neutral) else neutral
    return values.masked_fill(~mask, filling), mask


def _whole(input: Tensor) -> Any:
    """Return the type that sums of whole numbers have."""
    return native.int64 if not (input.is_floating_point() or input.is_complex()) else input.dtype


def _floating(input: Tensor) -> Any:
    return input.dtype if input.is_floating_point() or input.is_complex() else native.float32


def _greatest(name: str) -> Callable[[Tensor], Any]:
    """Return what finds what is above all elements, for the function of this name."""
    return lambda values: _INF if values.is_floating_point() else _limits(values, name).max


def _least(name: str) -> Callable[[Tensor], Any]:
    """Return what finds what is below all elements, for the function of this name."""
    return lambda values: -_INF if values.is_floating_point() else _limits(values, name).min


def _limits(values: Tensor, name: str) -> Any:
    if values.dtype in _WITHOUT_LIMITS:
        kind = str(values.dtype).replace("rushlight", "torch")
        raise NotImplementedError(f"identity of {name} on {kind} input")
    return native.iinfo(values.dtype)


@of_any_layout
def sum(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """Return the sums of the elements that are seen.

    >>> import rushlight as torch
    >>> torch.masked.sum(torch.tensor([1.0, 2.0]), 0, mask=torch.tensor([True, False]))
    tensor(1.)
    """
    values, _ = _seen(input, mask, 0, dtype or _whole(input))
    dims = _dims(values, dim)
    return values.sum(dims, keepdim=bool(keepdim)) if dims else values.clone()


@of_any_layout
def prod(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """Return the products of the elements that are seen."""
    values, _ = _seen(input, mask, 1, dtype or _whole(input))
    dims = [] if isinstance(dim, list) and not dim else _dims(values, dim)
    for one in sorted(dims, reverse=True):
        values = values.prod(one, keepdim=bool(keepdim))
    return values


@of_any_layout
def mean(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """Return the averages of the elements that are seen; not a number where there are none.

    >>> import rushlight as torch
    >>> torch.masked.mean(torch.tensor([1.0, 2.0]), 0, mask=torch.tensor([False, False]))
    tensor(nan)
    """
    values, seen = _seen(input, mask, 0, dtype or input.dtype)
    if not (values.is_floating_point() or values.is_complex()):
        whose, kind = "Optional" if dtype else "Input", str(values.dtype).replace("rushlight", "torch")
        raise ValueError(
            f"mean(): Could not infer output dtype. {whose} dtype must be either a floating point or complex "
            f"dtype. Got: {kind}"
        )
    dims = _dims(values, dim)
    if not dims:
        return values / seen
    return values.sum(dims, keepdim=bool(keepdim)) / seen.sum(dims, keepdim=bool(keepdim))


@of_any_layout
def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """Return the variances of the elements that are seen."""
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    elif unbiased is not None:
        raise ValueError("Only one of unbiased and correction may be given")
    # Truth values stay what they are, and have no differences.
    kind = dtype or (input.dtype if input.dtype == native.bool else _floating(input))
    values, seen = _seen(input, mask, 0, kind)
    dims = _dims(values, dim)
    count = seen.sum(dims, keepdim=True) if dims else seen.to(native.int64)
    centre = (values.sum(dims, keepdim=True) if dims else values) / count
    # Where nothing is seen the centre is no number, and must not reach the gradient of the others.
    away = native.where(seen, values - centre, 0.0)
    squares = away * away.conj()
    total = squares.sum(dims, keepdim=bool(keepdim)) if dims else squares
    count = count if keepdim or not dims else count.sum(dims)
    found: Tensor = total / (count - correction).clamp(min=0)
    return found


@of_any_layout
def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """Return the standard deviations of the elements that are seen."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


@of_any_layout
def amax(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """Return the greatest of the elements that are seen."""
    values, _ = _seen(input, mask, _least("amax"), dtype)
    return values.amax(_dims(values, dim), keepdim=bool(keepdim)) if values.ndim else values.clone()


@of_any_layout
def amin(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """Return the least of the elements that are seen."""
    values, _ = _seen(input, mask, _greatest("amin"), dtype)
    return values.amin(_dims(values, dim), keepdim=bool(keepdim)) if values.ndim else values.clone()


@of_any_layout
def argmax(
    input: Any, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """Return where the greatest of the elements that are seen is."""
    values, _ = _seen(input, mask, _least("argmax"), dtype)
    return native.argmax(values, dim, bool(keepdim)).to(values.dtype)


@of_any_layout
def argmin(
    input: Any, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """Return where the least of the elements that are seen is."""
    values, _ = _seen(input, mask, _greatest("argmin"), dtype)
    return native.argmin(values, dim, bool(keepdim)).to(values.dtype)


@of_any_layout
def norm(
    input: Any,
    ord: float = 2.0,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """Return the norms of the elements that are seen."""
    from ..linalg import vector_norm

    neutral = _INF if ord == -_INF else 0.0
    values, _ = _seen(input, mask, neutral, dtype or input.dtype)
    return vector_norm(values, ord, _dims(values, dim), bool(keepdim))


@of_any_layout
def normalize(
    input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None
) -> Tensor:
    """Return the elements that are seen, divided by their norm."""
    values, seen = _seen(input, mask, 0.0, dtype or input.dtype)
    size = norm(values, ord, dim, keepdim=True, mask=seen)
    return values / size.clamp(min=eps)


@of_any_layout
def logsumexp(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """Return the logarithms of the sums of exponentials of the elements that are seen."""
    if mask is not None and input.dtype in _WITHOUT_LIMITS:
        _limits(input, "logsumexp")
    values, _ = _seen(input, mask, -_INF, _floating(input))
    return values.logsumexp(_dims(values, dim), keepdim=bool(keepdim)).to(dtype or input.dtype)


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None
) -> Tensor:
    """Return log(exp(input) + exp(other)), of what is seen of both."""
    neutral = _least("logaddexp")
    one, _ = _seen(input, input_mask, neutral, dtype or input.dtype)
    two, _ = _seen(other, other_mask, neutral, dtype or other.dtype)
    return native.logaddexp(one, two).to(dtype or input.dtype)


@of_any_layout
def median(
    input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """Return the middle of the elements that are seen."""
    kind = input.dtype
    values, _ = _seen(input, mask, float("nan"), kind if kind.is_floating_point else native.float32)
    middle: Tensor = native.nanmedian(values, _line(values, dim), keepdim).values
    return middle.to(kind)


@of_any_layout
def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """Return the running sums of the elements that are seen."""
    values, _ = _seen(input, mask, 0, dtype)
    return values.cumsum(_line(values, dim), dtype=values.dtype)


@of_any_layout
def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """Return the running products of the elements that are seen."""
    values, _ = _seen(input, mask, 1, dtype)
    return values.cumprod(_line(values, dim), dtype=values.dtype)


@of_any_layout
def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """Return the softmax of the elements that are seen.

    >>> import rushlight as torch
    >>> torch.masked.softmax(torch.tensor([1.0, 1.0, 1.0]), 0, mask=torch.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    values, _ = _seen(input, mask, _least("amax"), dtype)
    return values.softmax(_line(values, dim))


@of_any_layout
def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """Return the logarithm of the softmax of the elements that are seen."""
    values, _ = _seen(input, mask, _least("amax"), dtype)
    return values.log_softmax(_line(values, dim))


@of_any_layout
def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """Return the softmax of the negative elements that are seen."""
    values, _ = _seen(input, mask, _greatest("amin"), dtype)
    return (-values).softmax(_line(values, dim))
