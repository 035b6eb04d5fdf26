"""Tensors that processes have alike: many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import cat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._rushlight import Tensor
    from ._process_group import ProcessGroup

# Tensors of more bytes go by themselves, smaller ones together.
_LARGE = 1 << 18


def broadcast_all(group: ProcessGroup, tensors: Sequence[Tensor], root: int) -> None:
    """Give everybody the tensors of one process."""
    together: dict[Any, list[Tensor]] = {}
    works = []
    for one in tensors:
        if one.numel() * one.itemsize >= _LARGE:
            works.append(group.broadcast([one], root))
        else:
            together.setdefault(one.dtype, []).append(one.data)
    joined = {dtype: cat([one.reshape(-1) for one in some]) for dtype, some in together.items()}
    works += [group.broadcast([whole], root) for whole in joined.values()]
    for work in works:
        work.wait()
    for dtype, some in together.items():
        parts = joined[dtype].split([one.numel() for one in some])
        for one, part in zip(some, parts, strict=True):
            one.copy_(part.view(one.shape))
