"""`assert_close`: equal within a tolerance, or a report of where and by how much not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .._rushlight import Tensor, float16, float32, float64, tensor
from ._mismatches import default_tolerances
from ._pairs import BooleanPair, NonePair, NumberPair, not_close_error_metas
from ._tensor_pair import TensorLikePair

__all__ = ["assert_allclose", "assert_close"]

# What `assert_allclose` takes.
_WIDER = {
    float16: (1e-3, 1e-3),
    float32: (1e-4, 1e-5),
    float64: (1e-5, 1e-8),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise an AssertionError unless `|actual - expected| <= atol + rtol * |expected|` everywhere.

    Takes tensors, arrays, numbers, and sequences and mappings of these.

    >>> import rushlight as torch
    >>> torch.testing.assert_close(torch.tensor([1.0]), torch.tensor([1.0000001]))
    """
    __tracebackhide__ = True
    actual, expected = _unwrap_dtensor_for_comparison(actual, expected)
    found = not_close_error_metas(
        actual,
        expected,
        pair_types=(NonePair, BooleanPair, NumberPair, TensorLikePair),
        allow_subclasses=allow_subclasses,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=check_device,
        check_dtype=check_dtype,
        check_layout=check_layout,
        check_stride=check_stride,
        msg=msg,
    )
    if found:
        raise found[0].to_error(msg)


def _unwrap_dtensor_for_comparison(actual: Any, expected: Any) -> tuple[Any, Any]:
    """Return what this process has of two distributed tensors, which have to be spread alike."""
    distributed = sys.modules.get(f"{__package__.partition('.')[0]}.distributed.tensor")
    kinds = [distributed is not None and isinstance(one, distributed.DTensor) for one in (actual, expected)]
    if not any(kinds):
        return actual, expected
    if not all(kinds):
        raise TypeError(
            "Comparing a DTensor to a non-DTensor is ambiguous. Call .full_tensor() to compare the full "
            "logical tensor or .to_local() to compare the local shard."
        )
    for what, name in (("placements", "placements"), ("device meshes", "device_mesh")):
        left, right = getattr(actual, name), getattr(expected, name)
        if left != right:
            raise AssertionError(f"DTensor {what} do not match: {left} != {right}")
    return actual.to_local(), expected.to_local()


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Compare as `assert_close` does, but for types, with wider bounds for single precision."""
    import warnings

    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    actual = actual if isinstance(actual, Tensor) else tensor(actual)
    expected = expected if isinstance(expected, Tensor) else tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(actual, expected, dtype_precisions=_WIDER)
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None
    )
