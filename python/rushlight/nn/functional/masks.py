"""Masks of attention in the form in which they are added to logits."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ... import _rushlight as native
from ..._rushlight import Tensor


def _none_or_dtype(input: Tensor | None) -> Any:
    """Return the element type of a mask, if there is one."""
    if input is None:
        return None
    if isinstance(input, Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: Any,
    other_name: str,
    target_type: Any,
    check_other: bool = True,
) -> Tensor | None:
    """Return a mask as what is added to logits: minus infinity where it is true, if it says that."""
    if mask is None:
        return None
    if mask.dtype != native.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both "
            "instead.",
            stacklevel=4,
        )
    if mask.dtype == native.bool:
        return native.zeros_like(mask, dtype=target_type).masked_fill(mask, -math.inf)
    return mask
