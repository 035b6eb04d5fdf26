"""Attention of nested tensors: of each sequence apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor
from ._tensor import NestedTensor, alike

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["attended", "attended_by_heads"]


def attended(func: Any, query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> NestedTensor:
    """Return `scaled_dot_product_attention` of each sequence."""
    if (args and args[0] is not None) or kwargs.get("attn_mask") is not None:
        raise NotImplementedError("attention of nested tensors with a mask is not computed")
    return _joined(query, _of_each(func, query, key, value, *args, **kwargs))


def attended_by_heads(
    func: Callable[..., tuple[Tensor, Tensor | None]],
    query: NestedTensor,
    key: NestedTensor,
    value: NestedTensor,
    *args: Any,
    mask: Tensor | None = None,
    **kwargs: Any,
) -> tuple[NestedTensor, Tensor | None]:
    """Return `_native_multi_head_attention` of each sequence; weights are zero where one has no places."""
    if mask is not None or (len(args) > 6 and args[6] is not None):
        raise RuntimeError("NestedTensor with mask is not supported yet")
    found, weights = zip(*_of_each(func, query, key, value, *args, **kwargs), strict=True)
    return _joined(query, found), None if weights[0] is None else _padded(weights)


def _of_each(
    func: Any, query: NestedTensor, key: NestedTensor, value: NestedTensor, *args: Any, **kwargs: Any
) -> list[Any]:
    rows = zip(query.parts(), key.parts(), value.parts(), strict=True)
    return [func(*(one.unsqueeze(0) for one in row), *args, **kwargs) for row in rows]


def _joined(like: NestedTensor, found: Any) -> NestedTensor:
    parts = [one[0] for one in found]
    if like._offsets is None:
        return alike(like, parts)
    return alike(like, [native.cat(parts, like._ragged_idx - 1)])


def _padded(weights: Any) -> Tensor:
    """Return weights of sequences, each with a first dimension of one, in one tensor."""
    queries, keys = (max(one.shape[dim] for one in weights) for dim in (-2, -1))
    padded = [
        native.constant_pad_nd(one, [0, keys - one.shape[-1], 0, queries - one.shape[-2]]) for one in weights
    ]
    return native.cat(padded)
