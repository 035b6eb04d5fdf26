"""The functions that the package opt_einsum calls on tensors, with numpy's `axes` for `dims`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _rushlight
from .._rushlight import Tensor
from .composites import einsum
from .composites import tensordot as _tensordot

__all__ = ["einsum", "tensordot", "transpose"]


def transpose(a: Tensor, axes: Sequence[int]) -> Tensor:
    """Return a tensor with its dimensions in this order."""
    turned: Tensor = _rushlight.permute(a, tuple(axes))
    return turned


def tensordot(x: Tensor, y: Tensor, axes: Any = 2) -> Tensor:
    """Sum the products over dimensions of both."""
    contracted: Tensor = _tensordot(x, y, dims=axes)
    return contracted
