"""Attention as a formula of other operations, recorded as one where torch has one for it."""

from __future__ import annotations

from ... import _rushlight as native
from ..._calls.precision import lowered
from ..._calls.showing import shown_as_given
from ..._messages.formatting import name_in_c
from ..._rushlight import Tensor

__all__ = ["scaled_dot_product_attention"]


class _Allowed:
    """How attention may be computed; `nn.attention` says so."""

    as_one = True
    as_others = True


allowed = _Allowed()


@shown_as_given
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
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
    if dropout_p == 0.0 and allowed.as_one and _is_fused(query, key, value, attn_mask, enable_gqa):
        return native._nn.attention(query, key, value, attn_mask, is_causal, scale)
    if not allowed.as_others:
        raise RuntimeError(
            "No viable backend for scaled_dot_product_attention was found. "
            "This is likely due to turning off both the math kernel and the fused kernels."
        )
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if enable_gqa:
        key, value = _for_heads(query, key), _for_heads(query, value)
    kind = query.dtype
    if kind in (native.float16, native.bfloat16):
        # The scores are sums, which half types are too short for.
        query, key, value = query.float(), key.float(), value.float()
        attn_mask = attn_mask.float() if attn_mask is not None and attn_mask.dtype is kind else attn_mask
    scores = native._nn.attention_scores(query, key, attn_mask, is_causal, scale)
    weights = native._safe_softmax(scores, -1)
    if dropout_p > 0.0:
        weights = native.dropout(weights, dropout_p, True)
    return (weights @ value).to(kind)


def _for_heads(query: Tensor, x: Tensor) -> Tensor:
    """Return keys or values as often as there are heads of queries that share them."""
    return x.repeat_interleave(query.shape[-3] // x.shape[-3], -3)


def _is_fused(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, grouped: bool) -> bool:
    """Whether torch records one node: of samples with several heads, all in one form."""
    if mask is not None and (mask.requires_grad or mask.dim() not in (2, 4)):
        return False
    sizes, keys = query.shape, key.shape
    if not query.is_floating_point() or len(sizes) != 4 or len(keys) != 4 or 0 in sizes or 0 in keys:
        return False
    heads, count = sizes[1], keys[1]
    agree = keys == value.shape and keys[0] == sizes[0] and keys[3] == sizes[3]
    if not agree or not (count == heads or (grouped and heads % count == 0)):
        return False
    return query.stride(-1) == key.stride(-1) == value.stride(-1) == 1


def _check(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None) -> None:
    """Refuse what has too few dimensions or different types."""
    if query.dim() < 2 or key.dim() < 2 or value.dim() < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead."
        )
    if not query.dtype is key.dtype is value.dtype:
        names = [name_in_c(x.dtype) for x in (query, key, value)]
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{names[0]} key.dtype: {names[1]} and value.dtype: {names[2]} instead."
        )
    if attn_mask is not None and attn_mask.dtype not in (native.bool, native.float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{name_in_c(attn_mask.dtype)} and  query.dtype: {name_in_c(query.dtype)} instead."
        )
