"""Attention as a formula of other operations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ... import _rushlight as native

if TYPE_CHECKING:
    from ..._rushlight import Tensor

__all__ = [
    "scaled_dot_product_attention",
]


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return the values, weighed by how well the keys answer each query."""
    if is_causal and attn_mask is not None:
        raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * factor
    if is_causal:
        attn_mask = native.ones(query.shape[-2], key.shape[-2], dtype=native.bool).tril()
    if attn_mask is not None:
        if attn_mask.dtype is native.bool:
            scores = scores.masked_fill(~attn_mask, -math.inf)
        else:
            scores = scores + attn_mask
    weights = scores.softmax(-1)
    if dropout_p > 0.0:
        weights = native.dropout(weights, dropout_p, True)
    return weights @ value
