"""Masks of attention to what came before, said by their kind instead of by numbers.

>>> import rushlight as torch
>>> from rushlight.nn.attention.bias import causal_lower_right
>>> q, k = torch.ones(1, 2, 4), torch.ones(1, 3, 4)
>>> torch.nn.functional.scaled_dot_product_attention(q, k, k, causal_lower_right(2, 3)).shape
torch.Size([1, 2, 4])
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Any
from warnings import warn

from ... import _rushlight as native
from ..._rushlight import Tensor, ones
from ..functional import scaled_dot_product_attention

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """In which corner the last (or first) query sees the last (or first) key."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(Tensor):
    """A mask by which every query sees the keys up to its own place, counted from one corner."""

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        super().__init__()
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            warn(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!",
                stacklevel=2,
            )

    def _materialize(self, device: Any = None) -> Tensor:
        """Return the mask as numbers."""
        shift = self.seq_len_kv - self.seq_len_q if self.variant is CausalVariant.LOWER_RIGHT else 0
        return ones(self.seq_len_q, self.seq_len_kv, dtype=native.bool, device=device).tril(shift)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer for attention, which knows the mask of the upper left corner by itself."""
        if func is scaled_dot_product_attention:
            return _attend(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)

    def __repr__(self) -> str:
        return repr(self._materialize())


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: CausalBias,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    **options: Any,
) -> Tensor:
    if is_causal:
        raise ValueError("CausalBias should not be used with causal=True")
    is_square = attn_mask.seq_len_q == attn_mask.seq_len_kv
    if is_square or attn_mask.variant is CausalVariant.UPPER_LEFT:
        return scaled_dot_product_attention(query, key, value, None, dropout_p, True, **options)
    mask = attn_mask._materialize(query.device)
    return scaled_dot_product_attention(query, key, value, mask, dropout_p, False, **options)


def causal_upper_left(*size: int) -> CausalBias:
    """Return the mask by which the first query sees the first key, and each after it one more."""
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """Return the mask by which the last query sees all keys, and each before it one fewer."""
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
