"""Inner names of torch's `nn.functional`, which copies of its functions in other libraries use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..nn import _reduction as _Reduction
from ..nn.functional.activations import implicit_dim, threshold
from ..nn.functional.heads import _checked_ranks as _mha_shape_check
from ..nn.functional.normalisation import _several
from ..nn.functional.unpooling import _output_size as _unpool_output_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._rushlight import Tensor

__all__ = [
    "_Reduction",
    "_check_key_padding_mask",
    "_get_softmax_dim",
    "_mha_shape_check",
    "_threshold",
    "_unpool_output_size",
    "_verify_batch_size",
    "_verify_spatial_size",
    "assert_int_or_pair",
]

_threshold = threshold


def _check_key_padding_mask(key_padding_mask: Tensor, src_len: int, bsz: int) -> None:
    """Refuse a mask that is not of so many samples and keys."""
    for place, wanted in ((0, bsz), (1, src_len)):
        found = key_padding_mask.shape[place]
        if found != wanted:
            raise AssertionError(f"Expected key_padded_mask.shape[{place}] to be {wanted}, but got {found}")


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """Warn that `dim` was left out, and choose it."""
    return implicit_dim(name, ndim, stacklevel + 1)


def _verify_batch_size(size: Sequence[int]) -> None:
    """Refuse one value a channel."""
    _several(size, "value per channel")


def _verify_spatial_size(size: Sequence[int]) -> None:
    """Refuse one place a channel."""
    _several(size, "spatial element")


def assert_int_or_pair(arg: Any, arg_name: str, message: str) -> None:
    """Refuse what is neither a number nor two."""
    if not isinstance(arg, int) and len(arg) != 2:
        raise AssertionError(message.format(arg_name))
