"""Attention of several heads as a function: queries ask keys, and answers are made of their values."""

from __future__ import annotations

import math
from typing import Any

from ... import _rushlight as native
from ..._calls.showing import shown_to
from ..._rushlight import Tensor
from .attention import scaled_dot_product_attention
from .masks import _canonical_mask, _none_or_dtype

__all__ = ["multi_head_attention_forward"]


def _checked_ranks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Tell whether there are several samples, and refuse arguments that do not agree on that."""
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    rank = query.dim()
    start = f"For {'batched' if rank == 3 else 'unbatched'} ({rank}-D) `query`, expected "
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(
            f"{start}`key` and `value` to be {rank}-D but found {key.dim()}-D and {value.dim()}-D tensors "
            "respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != rank - 1:
        raise AssertionError(
            f"{start}`key_padding_mask` to be `None` or {rank - 1}-D but found {key_padding_mask.dim()}-D "
            "tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"{start}`attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
            )
        wanted = (num_heads, query.shape[0], key.shape[0])
        if rank == 2 and attn_mask.dim() == 3 and attn_mask.shape != wanted:
            raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got {attn_mask.shape}")
    return rank == 3


def _check_mask(mask: Tensor | None, target: int, source: int, count: int, heads: int) -> None:
    if mask is None:
        return
    shapes = {2: (target, source), 3: (count * heads, target, source)}
    if mask.shape != shapes[mask.dim()]:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {shapes[mask.dim()]}."
        )


def _projected(
    inputs: tuple[Tensor, Tensor, Tensor],
    together: Tensor | None,
    apart: tuple[Tensor | None, Tensor | None, Tensor | None] | None,
    bias: Tensor | None,
) -> list[Tensor]:
    """Return queries, keys and values through their weights: thirds of one, if they are not apart."""
    _, key, value = inputs
    if apart is not None and key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    if apart is None and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    weights: Any = apart
    if apart is None:
        if together is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        if key is value:
            return _projected_together(inputs, together, bias)
        weights = together.chunk(3)
    for name, weight in zip("qkv", weights, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return list(_in_projection(*inputs, *weights, *biases))


# The names that torch has for the two ways: attentions of others call them.
def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values through weights of their own."""
    linear = native._nn.linear
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> list[Tensor]:
    """Return queries, keys and values through thirds of one weight."""
    if k is v:
        return _projected_together((q, k, v), w, b)
    biases: Any = (None, None, None) if b is None else b.chunk(3)
    return list(_in_projection(q, k, v, *w.chunk(3), *biases))


def _projected_together(
    inputs: tuple[Tensor, Tensor, Tensor], weight: Tensor, bias: Tensor | None
) -> list[Tensor]:
    """`_projected` where keys are values too: one product for all that is the same."""
    query, key, _ = inputs
    width = query.shape[-1]

    def parts(x: Tensor, weight: Tensor, bias: Tensor | None, count: int) -> list[Tensor]:
        projected = native._nn.linear(x, weight, bias).unflatten(-1, (count, width)).unsqueeze(0)
        whole = projected.transpose(0, -2).squeeze(-2).contiguous()
        return [whole[place] for place in range(count)]

    if query is key:
        return parts(query, weight, bias, 3)
    own, shared = weight.split([width, 2 * width])
    own_bias, shared_bias = (None, None) if bias is None else bias.split([width, 2 * width])
    return [native._nn.linear(query, own, own_bias), *parts(key, shared, shared_bias, 2)]


def _headed(x: Tensor, static: Tensor | None, name: str, heads: int, size: int) -> Tensor:
    """Return what each head of each sample gets of `x`, or what is given in its place."""
    if static is None:
        return x.view(x.shape[0], heads, size).transpose(0, 1)
    for place, wanted in ((0, heads), (2, size)):
        if static.size(place) != wanted:
            raise AssertionError(
                f"expecting static_{name}.size({place}) of {wanted}, but got {static.size(place)}"
            )
    return static


def _for_heads(padding: Tensor, count: int, source: int, heads: int, more: int) -> Tensor:
    """Return a mask of keys as every head of its sample sees it, with room for `more` keys."""
    if padding.shape != (count, source):
        place = 0 if padding.shape[0] != count else 1
        raise AssertionError(
            f"Expected key_padded_mask.shape[{place}] to be {(count, source)[place]}, but got "
            f"{padding.shape[place]}"
        )
    padding = native.constant_pad_nd(padding, (0, more)) if more else padding
    padding = padding.view(count, 1, 1, -1).expand(-1, heads, -1, -1)
    return padding.reshape(count * heads, 1, -1)


def _without_weights(
    parts: tuple[Tensor, Tensor, Tensor],
    mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    shape: tuple[int, ...],
) -> Tensor:
    """Return what the heads make of queries, keys and values together, a row for each query."""
    count, heads, target, size = shape
    if mask is not None:
        alone = mask.size(0) == 1 and mask.dim() == 3
        mask = mask.unsqueeze(0) if alone else mask.view(count, heads, *mask.shape[-2:])
    query, key, value = (part.view(count, heads, part.shape[1], size) for part in parts)
    answer = scaled_dot_product_attention(query, key, value, mask, dropout_p, is_causal)
    return answer.permute(2, 0, 1, 3).reshape(target * count, heads * size)


def _with_biases(
    sources: tuple[Tensor, Tensor],
    biases: tuple[Tensor | None, Tensor | None],
    static: tuple[Tensor | None, Tensor | None],
    count: int,
) -> tuple[Tensor, Tensor, int]:
    """Return keys and values with one more source, a bias, if there is one; and how many more there are."""
    (k, v), (bias_k, bias_v) = sources, biases
    if (bias_k is None) != (bias_v is None):
        have, lack = ("k", "v") if bias_v is None else ("v", "k")
        raise AssertionError(f"bias_{have} is set but bias_{lack} is None")
    if bias_k is None or bias_v is None:
        return k, v, 0
    for name, given in zip(("key", "value"), static, strict=True):
        if given is not None:
            raise AssertionError(f"bias cannot be added to static {name}.")
    return native.cat([k, bias_k.repeat(1, count, 1)]), native.cat([v, bias_v.repeat(1, count, 1)]), 1


def _with_weights(
    parts: tuple[Tensor, Tensor, Tensor], mask: Tensor | None, dropout: float
) -> tuple[Tensor, Tensor]:
    """Return what each head makes of the values, and with which weights."""
    q, k, v = parts
    q, turned = q * math.sqrt(1.0 / q.shape[-1]), k.transpose(-2, -1)
    shares = (native.bmm(q, turned) if mask is None else native.baddbmm(mask, q, turned)).softmax(-1)
    if dropout > 0.0:
        shares = native.dropout(shares, dropout, True)
    return native.bmm(shares, v), shares


@shown_to("query key value in_proj_weight in_proj_bias bias_k bias_v out_proj_weight out_proj_bias")
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Return what several heads make of queries, keys and values, and with which weights."""
    batched = _checked_ranks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    target, count, width = query.shape
    source = key.shape[0]
    padding = _canonical_mask(
        key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    # Then the attention itself knows what comes later.
    is_causal = is_causal and key_padding_mask is None and not need_weights
    mask = None if is_causal else _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
    if width != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    size = width // num_heads
    if size * num_heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    apart = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _projected((query, key, value), in_proj_weight, apart, in_proj_bias)
    _check_mask(mask, target, source, count, num_heads)
    if mask is not None and mask.dim() == 2:
        mask = mask.unsqueeze(0)
    k, v, more = _with_biases((k, v), (bias_k, bias_v), (static_k, static_v), count)
    heads = count * num_heads
    q = _headed(q, None, "q", heads, size)
    k, v = _headed(k, static_k, "k", heads, size), _headed(v, static_v, "v", heads, size)
    if add_zero_attn:
        zeros = native.zeros((heads, 1, size), dtype=k.dtype)
        k, v = native.cat([k, zeros], 1), native.cat([v, zeros], 1)
        more += 1
    if mask is not None:
        mask = native.constant_pad_nd(mask, (0, more)) if more else mask
    if padding is not None:
        padding = _for_heads(padding, count, source, num_heads, more)
        mask = padding if mask is None else mask + padding
    kept = dropout_p if training else 0.0
    if not need_weights:
        shape = (count, num_heads, target, size)
        output = _without_weights((q, k, v), mask, kept, is_causal, shape)
        output = native._nn.linear(output, out_proj_weight, out_proj_bias)
        output = output.view(target, count, output.shape[-1])
        return (output if batched else output.squeeze(1)), None
    joined, shares = _with_weights((q, k, v), mask, kept)
    joined = joined.transpose(0, 1).reshape(target * count, width)
    output = native._nn.linear(joined, out_proj_weight, out_proj_bias)
    output = output.view(target, count, output.shape[-1])
    if not batched:
        output = output.squeeze(1)
    shares = shares.view(count, num_heads, target, shares.shape[-1])
    if average_attn_weights:
        shares = shares.mean(1)
    return output, shares if batched else shares.squeeze(0)
