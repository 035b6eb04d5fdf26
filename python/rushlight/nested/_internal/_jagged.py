"""Jagged tensors made of values and of the places where parts begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._devices.absent_types import jagged
from .. import as_nested_tensor
from .._tensor import from_values

if TYPE_CHECKING:
    from ..._rushlight import Tensor

__all__ = [
    "buffer_from_jagged",
    "extract_kwargs",
    "jagged_from_list",
    "jagged_from_tensor_and_lengths",
    "nested_from_padded",
    "nested_view_from_values_offsets",
    "nested_view_from_values_offsets_lengths",
]


def nested_view_from_values_offsets(
    values: Tensor,
    offsets: Tensor,
    ragged_idx: int = 1,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> Any:
    """Return the jagged tensor of values whose parts begin at `offsets`."""
    return from_values(values, offsets, None, ragged_idx)


def nested_view_from_values_offsets_lengths(
    values: Tensor,
    offsets: Tensor,
    lengths: Tensor,
    ragged_idx: int = 1,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> Any:
    """Return the jagged tensor of values of whose parts `lengths` are used, from `offsets` on."""
    return from_values(values, offsets, lengths, ragged_idx)


def buffer_from_jagged(jagged: Any) -> Tensor:
    """Return the values of all parts, one after another."""
    found: Tensor = jagged.values()
    return found


def jagged_from_list(
    tensors: list[Tensor], offsets: Tensor | None, dtype: Any = None, device: Any = None
) -> tuple[Any, Tensor]:
    """Return the jagged tensor of tensors, and where its parts begin: at `offsets`, if that is given."""
    made: Any = as_nested_tensor(tensors, dtype, device, jagged)
    if offsets is None:
        return made, made.offsets()
    return from_values(made.values(), offsets, None), offsets


def jagged_from_tensor_and_lengths(
    tensor: Tensor, starts: Tensor, lengths: Tensor
) -> tuple[Any, Tensor, Tensor | None]:
    """Return the jagged tensor of a stretch of each row, where these begin, and their lengths if needed."""
    rows, width = tensor.shape[:2]
    offsets = native.cat((native.arange(rows, device=tensor.device) * width + starts, native.tensor([0])))
    offsets[-1] = offsets[-2] + lengths[-1]
    if bool((offsets.diff() == lengths).all()):
        return from_values(tensor.flatten(0, 1), offsets, None), offsets, None
    return from_values(tensor.flatten(0, 1), offsets, lengths), offsets, lengths


def nested_from_padded(padded: Tensor, offsets: Tensor, ragged_idx: int = 1, sum_S: int | None = None) -> Any:
    """Return the jagged tensor of the first elements of each row of a tensor that is filled up."""
    lengths = offsets.diff().tolist()
    rows = [row.narrow(ragged_idx - 1, 0, length) for row, length in zip(padded, lengths, strict=True)]
    return from_values(native.cat(rows, ragged_idx - 1), offsets, None, ragged_idx)


def extract_kwargs(arg: Any) -> dict[str, Any]:
    """Return what a jagged tensor is made of beside its values."""
    return {
        "offsets": arg.offsets(),
        "lengths": arg.lengths(),
        "_metadata_cache": {},
        "_ragged_idx": arg._ragged_idx,
    }
