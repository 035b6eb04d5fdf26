"""Attention whose scores a function changes, and which another function masks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import _rushlight as native
from ..._rushlight import Tensor
from ...func.vmap import vmap
from ._block_masks import BlockMask, and_masks, create_block_mask, create_mask, noop_mask, or_masks

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]


# How many queries and keys stand in a block of a mask, and in one that is all of it.
_DEFAULT_SPARSE_BLOCK_SIZE = 128
_LARGE_SPARSE_BLOCK_SIZE = 1 << 30


class AuxRequest(NamedTuple):
    """What is asked for beside the result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for beside the result."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Return attention whose scores are what `score_mod(score, batch, head, query, key)` makes of them.

    A row that the mask leaves nothing of is zero. Gradients pass, to what the functions use as well.

    >>> import rushlight as torch
    >>> from rushlight.nn.attention.flex_attention import create_block_mask, flex_attention
    >>> def causal(batch, head, query, key):
    ...     return query >= key
    >>> x = torch.eye(3).view(1, 1, 3, 3)
    >>> flex_attention(x, x, x, block_mask=create_block_mask(causal, None, None, 3, 3))[0, 0, 0]
    tensor([1., 0., 0.])
    """
    _check(query, key, value, enable_gqa)
    if return_aux is not None and return_aux.max_scores:
        raise NotImplementedError("Returning max scores is not supported on CPU/MPS.")
    queries, keys = query.shape[-2], key.shape[-2]
    if block_mask is not None:
        _check_mask(block_mask, queries, keys)
    if enable_gqa and query.shape[1] != key.shape[1]:
        each = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(each, 1), value.repeat_interleave(each, 1)
    wide = native.promote_types(query.dtype, native.float32)
    key, value = key.to(query.dtype), value.to(query.dtype)
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query.to(wide) @ key.to(wide).transpose(-2, -1)) * factor
    at = [native.arange(size) for size in scores.shape]
    if score_mod is not None:
        scores = _for_each(score_mod, (0, None, None, None))(scores, *at).to(wide)
    if block_mask is not None:
        allowed = _for_each(block_mask.mask_mod, ())(*at)
        scores = scores.masked_fill(~allowed, -math.inf)
    lse = scores.logsumexp(-1)
    # What nobody may look at has no weights, rather than weights that are no numbers.
    empty = lse == -math.inf
    weights = (scores - lse.masked_fill(empty, 0.0).unsqueeze(-1)).exp()
    result = (weights @ value.to(wide)).to(query.dtype)
    if return_aux is not None:
        return result, AuxOutput(lse=lse if return_aux.lse else None)
    return (result, lse) if return_lse else result


def _for_each(function: Callable[..., Tensor], first: tuple[Any, ...]) -> Callable[..., Tensor]:
    """Return a function of a score and where it stands as one of all scores and of all places."""
    score = first[:1]
    for place in (3, 2, 1, 0):
        places = tuple(0 if place == at else None for at in range(4))
        function = vmap(function, in_dims=(*score, *places))
    return function


def _check(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> None:
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={query.shape[-1]} and E={key.shape[-1]}."
        )
    heads, others = query.shape[1], key.shape[1]
    if heads != others and not enable_gqa:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={heads} and "
            f"Hkv={others}. Try setting enable_gqa=True for GQA."
        )
    if heads % others:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={heads} and Hkv={others}."
        )


def _check_mask(mask: BlockMask, queries: int, keys: int) -> None:
    sizes = mask.seq_lengths
    if queries > sizes[0] or keys > sizes[1]:
        raise ValueError(
            f"block_mask was created for block_mask.shape={mask.shape} but got q_len={queries} and "
            f"kv_len={keys}. As the block mask was created for a smaller length than you're using it for, "
            f"you likely need to create a new block mask."
        )
    if (queries, keys) != sizes:
        raise ValueError(
            f"block_mask was created for block_mask.shape={mask.shape} but got q_len={queries} and "
            f"kv_len={keys}. As the block mask was created for a larger length than you're using it for, you "
            "can either 1. create a new block mask with the correct length, or 2. 'adjust' the existing "
            "block "
            "mask to the correct length by calling block_mask._adjust(q_len, kv_len). This essentially "
            "'crops' the block mask to the upper left corner, which does not work for all mask_mods!"
        )


def _create_empty_block_mask(query: Tensor, key: Tensor) -> BlockMask:
    """Return the mask that leaves everything, in a block that is larger than all."""
    return BlockMask.from_kv_blocks(
        native.ones(1, 1, 1, dtype=native.int32),
        native.zeros(1, 1, 1, 1, dtype=native.int32),
        BLOCK_SIZE=_LARGE_SPARSE_BLOCK_SIZE,
        seq_lengths=(1, 1),
    )
