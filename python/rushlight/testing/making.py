"""Tensors for tests, of random elements of any type."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native

if TYPE_CHECKING:
    from .._rushlight import Tensor

__all__ = ["make_tensor"]

_LARGEST = (native.int64, native.uint64)
_INTEGERS = (native.uint8, native.uint16, native.uint32, native.int8, native.int16, native.int32, *_LARGEST)


def _bounds(dtype: Any, low: float | None, high: float | None) -> tuple[float, float]:
    """Return the interval to draw from, which lies in what the type can say."""
    is_integer = dtype == native.bool or dtype in _INTEGERS
    if dtype == native.bool:
        bounds: tuple[float, float] = (0, 2)
        usual = (0, 2)
    elif is_integer:
        info = native.iinfo(dtype)
        bounds, usual = (info.min, info.max + (dtype not in _LARGEST)), (-9, 10)
    else:
        limits = native.finfo(dtype)
        bounds, usual = (limits.min, limits.max), (-9, 9)
    least, beyond = bounds
    low = usual[0] if low is None else low
    high = usual[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and not is_integer:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated "
            "since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= beyond:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
            f"[{least}, {beyond})".replace("rushlight", "torch")
        )
    low, high = min(max(low, least), beyond), min(max(high, least), beyond)
    return (math.ceil(low), math.ceil(high)) if is_integer else (low, high)


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return a tensor of elements from `[low, high)`, of any type.

    >>> import rushlight as torch
    >>> made = torch.testing.make_tensor(2, 3, dtype=torch.float32, device="cpu", low=0, high=1)
    >>> made.shape, bool((made >= 0).all())
    (torch.Size([2, 3]), True)
    """
    sizes = list(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else list(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    is_inexact = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not is_inexact:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}"
        )
    apart = noncontiguous and math.prod(sizes) > 1
    if apart:
        # Every other element of twice as many: neighbours differ.
        sizes[-1] *= 2
    low, high = _bounds(dtype, low, high)
    if is_inexact:
        made = native.empty(sizes, dtype=dtype)
        parts = native.view_as_real(made) if dtype.is_complex else made
        # The width of all numbers is none.
        parts.uniform_(low / 2, high / 2).mul_(2) if high - low == math.inf else parts.uniform_(low, high)
    else:
        # What is drawn of wide unsigned numbers is what signed ones have too.
        drawn = native.int64 if dtype in (native.uint16, native.uint32, native.uint64) else dtype
        made = native.randint(int(low), int(high), sizes, dtype=drawn).to(dtype)
    if apart:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = native.finfo(dtype).tiny if is_inexact else 1
    if is_inexact:
        made.requires_grad = requires_grad
    return made
