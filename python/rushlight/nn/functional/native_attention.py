"""Attention in one call, by the names of the operators that layers in evaluation come to."""

from __future__ import annotations

from math import sqrt

from ... import _rushlight as native
from ..._calls.showing import shown_as_given
from ..._rushlight import Tensor
from ..._warn_once import warn_once


@shown_as_given
def _masked_softmax(
    self: Tensor, mask: Tensor, dim: int | None = None, mask_type: int | None = None
) -> Tensor:
    """Return the softmax of the elements where a mask does not hold.

    The mask is one for pairs of places (type 0), for places in each sequence (1), or has all elements (2).

    >>> import rushlight as torch
    >>> torch._masked_softmax(torch.zeros(3), torch.tensor([True, False, False]), 0, 2)
    tensor([0.0000, 0.5000, 0.5000])
    """
    if mask.dtype != native.bool:
        raise RuntimeError("Mask should be a boolean tensor")
    if mask.shape != self.shape:
        mask = _spread(mask, self, mask_type)
    return self.masked_fill(mask, float("-inf")).softmax(-1 if dim is None else dim)


def _spread(mask: Tensor, weights: Tensor, kind: int | None) -> Tensor:
    """Return the mask of all weights that one for pairs of places, or for places in each sequence, is."""
    if weights.dim() == 4 and mask.dim() == 2 and kind != 2:
        if kind is None:
            raise RuntimeError("Mask Type should be defined")
        if kind not in (0, 1):
            raise RuntimeError(
                "Mask Type should be 0 (src_mask) or 1 (src_key_padding_mask), or 2 (default_mask)"
            )
        batch, _, queries, keys = weights.shape
        expected, words = [((queries, keys), "(L, L)"), ((batch, keys), "(B, L)")][kind]
        if tuple(mask.shape) != expected:
            raise RuntimeError(f"For mask_type == {kind} mask shape should be {words}")
        return (mask[:, None, None] if kind else mask).expand(weights.shape)
    raise RuntimeError("For mask_type == 2 mask shape should match input shape")


@shown_as_given
def _transform_bias_rescale_qkv(
    qkv: Tensor, qkv_bias: Tensor, num_heads: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the queries, the keys and the values of every head, the queries by the root of their size.

    >>> import rushlight as torch
    >>> query, key, value = torch._transform_bias_rescale_qkv(torch.ones(1, 2, 3), torch.zeros(3), 1)
    >>> query.shape
    torch.Size([1, 1, 2, 1])
    """
    size = qkv_bias.shape[0] // 3
    if qkv.size(2) != qkv_bias.shape[0] or size % num_heads:
        raise RuntimeError(
            "Expected D % num_head == 0 to be true, but got false.  (Could this error message be improved?  "
            "If so, please report an enhancement request to PyTorch.)"
        )
    parts = (qkv + qkv_bias).chunk(3, -1)
    query, key, value = (
        part.unflatten(-1, (num_heads, size // num_heads)).transpose(1, 2).contiguous() for part in parts
    )
    return query / sqrt(size // num_heads), key, value


@shown_as_given
def _native_multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Return what several heads attend to, brought together, and how they weigh that.

    >>> import rushlight as torch
    >>> x, weight, bias = torch.ones(1, 2, 1), torch.ones(3, 1), torch.zeros(3)
    >>> torch._native_multi_head_attention(x, x, x, 1, 1, weight, bias, torch.ones(1, 1), torch.ones(1))
    (tensor([[[2.],
             [2.]]]), tensor([[[0.5000, 0.5000],
             [0.5000, 0.5000]]]))
    """
    _check_sequences(embed_dim, query=query, key=key, value=value)
    _check_projection(embed_dim, num_head, qkv_weight, qkv_bias)
    if mask is not None and mask.dtype != native.bool:
        warn_once(
            "Converting mask without torch.bool dtype to bool; this will negatively affect performance. "
            "Prefer to use a boolean mask directly."
        )
        mask = mask.bool()
    parts = zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3), strict=True)
    query, key, value = (
        native._nn.linear(given, weight, bias).unflatten(-1, (num_head, -1)).transpose(1, 2)
        for given, weight, bias in parts
    )
    weights = query / sqrt(query.shape[-1]) @ key.transpose(2, 3)
    weights = weights.softmax(-1) if mask is None else _masked_softmax(weights, mask, 3, mask_type)
    found = native._nn.linear((weights @ value).transpose(1, 2).flatten(2), proj_weight, proj_bias)
    if not need_weights:
        return found, None
    return found, weights.mean(1) if average_attn_weights else weights


def _check_sequences(embed_dim: int, **given: Tensor) -> None:
    for name, tensor in given.items():
        if tensor.dim() != 3:
            raise RuntimeError(f"expected 3-D `{name}`, got {tensor.dim()}-D tensor")
    shape = given["query"].shape
    if shape[2] != embed_dim:
        raise RuntimeError(f"passed-in embed_dim {embed_dim} didn't match last dim of query {shape[2]}")
    if any(tensor.shape != shape for tensor in given.values()):
        raise RuntimeError("expected `query`/`key`/`value` shapes to match")


def _check_projection(embed_dim: int, num_head: int, qkv_weight: Tensor, qkv_bias: Tensor) -> None:
    if qkv_weight.dim() != 2:
        raise RuntimeError(f"expected 2-D `qkv_weight`, got {qkv_weight.dim()}-D tensor")
    if qkv_weight.shape[0] != 3 * embed_dim:
        raise RuntimeError("expected `qkv_weight` first dim to be 3x embed_dim")
    if qkv_weight.shape[1] != embed_dim:
        raise RuntimeError("expected `qkv_weight` second dim to be embed_Dim")
    if qkv_bias.dim() != 1:
        raise RuntimeError(f"expected 1-D `qkv_bias`, got {qkv_bias.dim()}-D tensor")
    if qkv_bias.shape[0] != 3 * embed_dim:
        raise RuntimeError("expected `qkv_bias` first dim and first dim of query to be equal")
    if embed_dim % num_head:
        raise RuntimeError("`embed_dim` must divide evenly by `num_heads`")
