"""Attention as a formula of other operations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ... import _rushlight as native
from ..._precision import lowered
from ..._spelling import name_in_c

if TYPE_CHECKING:
    from ..._rushlight import Tensor

__all__ = ["scaled_dot_product_attention"]


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
    query, key, value, attn_mask = lowered(query, key, value, attn_mask)
    _check(query, key, value, attn_mask)
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    kind = query.dtype
    if kind in (native.float16, native.bfloat16):
        # The scores are sums, which half types are too short for.
        query, key, value = query.float(), key.float(), value.float()
        if attn_mask is not None and attn_mask.dtype is kind:
            attn_mask = attn_mask.float()
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    # Half of it on each side, where it keeps numbers small.
    half = math.sqrt(abs(scale))
    query = native._nn.mul_number(query, math.copysign(half, scale))
    scores = query @ native._nn.mul_number(key.transpose(-2, -1), half)
    if is_causal:
        attn_mask = native.ones(query.shape[-2], key.shape[-2], dtype=native.bool).tril()
    if attn_mask is not None:
        if attn_mask.dtype is native.bool:
            zeros = native.zeros(attn_mask.shape, dtype=query.dtype)
            attn_mask = zeros.masked_fill(~attn_mask, -math.inf)
        scores = scores + attn_mask
    weights = native._safe_softmax(scores, -1)
    if dropout_p > 0.0:
        weights = native.dropout(weights, dropout_p, True)
    return (weights @ value).to(kind)


def _check(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None) -> None:
    """Refuse what has too few dimensions or different types."""
    ranks = {"query": query.dim(), "key": key.dim(), "value": value.dim()}
    if min(ranks.values()) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{ranks['query']} key.dim: {ranks['key']} and value.dim: {ranks['value']} instead."
        )
    names = [name_in_c(x.dtype) for x in (query, key, value)]
    if len(set(names)) > 1:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{names[0]} key.dtype: {names[1]} and value.dtype: {names[2]} instead."
        )
    if attn_mask is not None and attn_mask.dtype not in (native.bool, native.float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{name_in_c(attn_mask.dtype)} and  query.dtype: {names[0]} instead."
        )
