"""Attention as a formula of other operations, recorded as one where torch has one for it."""

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
    """Return the values, weighed by how well the keys answer each query.

    >>> import rushlight as torch
    >>> query = torch.tensor([[0.0, 0.0]])
    >>> keys, values = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0], [3.0]])
    >>> torch.nn.functional.scaled_dot_product_attention(query, keys, values)
    tensor([[2.]])
    """
    query, key, value, attn_mask = lowered(query, key, value, attn_mask)
    _check(query, key, value, attn_mask)
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    if not _is_one(query, key, value, attn_mask, dropout_p):
        return _weigh(query, key, value, attn_mask, dropout_p, is_causal, scale)
    if attn_mask is not None and attn_mask.dtype is native.bool:
        attn_mask = _as_summand(attn_mask, query)

    def parts(query: Tensor, key: Tensor, value: Tensor, *mask: Tensor) -> tuple[Tensor, Tensor]:
        result = _weigh(query, key, value, mask[0] if mask else None, 0.0, is_causal, scale)
        scores = _scores(query, key, mask[0] if mask else None, is_causal, scale)
        return result, scores.logsumexp(-1)

    masks = () if attn_mask is None else (attn_mask,)
    result, _ = native._as_one(
        parts,
        (
            "_scaled_dot_product_flash_attention_for_cpu",
            "ScaledDotProductFlashAttentionForCpuBackward0",
            f"query key value {'attn_mask ' if masks else ''}output logsumexp",
        ),
        (3, 0, 0b10),
        {"dropout_p": 0.0, "is_causal": is_causal, "scale": scale, **({} if masks else {"attn_mask": None})},
        query,
        key,
        value,
        *masks,
    )
    return result


def _is_one(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float) -> bool:
    """Tell whether torch has one operation for all of it."""
    operands = (query, key, value)
    if any(x.dim() != 4 or 0 in x.shape or x.stride(-1) != 1 for x in operands):
        return False
    if dropout_p > 0.0 or not query.shape[:2] == key.shape[:2] == value.shape[:2]:
        return False
    if not query.shape[-1] == key.shape[-1] == value.shape[-1]:
        return False
    return attn_mask is None or (attn_mask.dim() in (2, 4) and not attn_mask.requires_grad)


def _as_summand(mask: Tensor, like: Tensor) -> Tensor:
    """Return what is added to scores instead of leaving them out."""
    return native.zeros(mask.shape, dtype=like.dtype).masked_fill(~mask, -math.inf)


def _scores(
    query: Tensor, key: Tensor, attn_mask: Tensor | None, is_causal: bool, scale: float | None
) -> Tensor:
    """Return how well each key answers each query."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    # Half of it on each side, where it keeps numbers small.
    half = math.sqrt(abs(scale))
    query = native._nn.mul_number(query, math.copysign(half, scale))
    scores = query @ native._nn.mul_number(key.transpose(-2, -1), half)
    if is_causal:
        attn_mask = native.ones(query.shape[-2], key.shape[-2], dtype=native.bool).tril()
    if attn_mask is not None:
        scores = scores + (_as_summand(attn_mask, query) if attn_mask.dtype is native.bool else attn_mask)
    return scores


def _weigh(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
) -> Tensor:
    kind = query.dtype
    if kind in (native.float16, native.bfloat16):
        # The scores are sums, which half types are too short for.
        query, key, value = query.float(), key.float(), value.float()
        attn_mask = attn_mask.float() if attn_mask is not None and attn_mask.dtype is kind else attn_mask
    weights = native._safe_softmax(_scores(query, key, attn_mask, is_causal, scale), -1)
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
