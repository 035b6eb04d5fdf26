"""What operations between processes ask of what they are given."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, complex64, float32, float64
from ._reduce_op import supports_complex
from ._world import default_group, get_global_rank, get_group_rank, is_outside, world

if TYPE_CHECKING:
    from ._process_group import ProcessGroup
    from ._work import Work


def warn_outside(group: Any, operation: str, stacklevel: int = 3) -> bool:
    """Tell whether this process is not in a group, with a warning if so."""
    if not is_outside(group):
        return False
    rank = -1 if world.default is None else world.default.rank()
    warnings.warn(
        f"Running {operation} on global rank {rank} which does not belong to the given group.",
        stacklevel=stacklevel,
    )
    return True


def in_group(group: ProcessGroup | None, rank: int | None, group_rank: int | None) -> int:
    """Return the rank in a group of who is named by one of two ranks."""
    if group_rank is not None:
        if rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        return group_rank
    if rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    return get_group_rank(group or default_group(), rank)


def with_peer(
    operation: str,
    group: ProcessGroup | None,
    rank: int | None,
    group_rank: int | None,
    least: int | None = None,
) -> tuple[ProcessGroup, int] | None:
    """Return the group of a call and the rank in it of the process that it names, or `least` of the world.

    Outside of the group there is a warning and nothing else.
    """
    group = default_group() if group is None else group
    if warn_outside(group, operation, stacklevel=4):
        return None
    if rank is None and group_rank is None:
        rank = least
    return group, in_group(group, rank, group_rank)


def in_world(group: ProcessGroup | None, rank: int | None, group_rank: int | None) -> int:
    """Return the rank in the world of who is named by one of two ranks."""
    return get_global_rank(group or default_group(), in_group(group, rank, group_rank))


def check_other(group: ProcessGroup, rank: int, kind: str) -> None:
    """Refuse messages of a process to itself."""
    if group.rank() == rank:
        raise ValueError(
            f"Invalid {kind} rank: {kind} rank should not be the same as the rank of the current process."
        )


def check_tensor(given: Any, name: str) -> None:
    """Refuse what is no tensor."""
    if not isinstance(given, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n             but "
            f"got {type(given)} instead."
        )


def check_tensors(given: Any, name: str) -> None:
    """Refuse what is no list of tensors."""
    begin = (
        f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n             "
        "but got"
    )
    if not isinstance(given, list):
        raise TypeError(f"{begin} {type(given)} instead.")
    if not all(isinstance(one, Tensor) for one in given):
        raise TypeError(f"{begin} {type(given)} with elements of type {[type(one) for one in given]}.")


def check_list(name: str, end: str, belongs: bool, given: Any) -> None:
    """Refuse a list of one tensor a process where there is no use for it, and none where there is."""
    if belongs and not given:
        raise ValueError(f"Argument ``{name}`` must be specified on {end} rank.")
    if given and not belongs:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{end} ranks.")


def check_one_type(*tensors: Tensor) -> None:
    """Refuse tensors of several types. Complex numbers are pairs of others."""
    first = None
    for tensor in tensors:
        dtype = tensor.dtype
        if dtype.is_complex:
            dtype = float32 if dtype == complex64 else float64
        if first is not None and first != dtype:
            raise ValueError(
                f"Invalid usage of tensors with different dtypesFound {first} and  {tensor.dtype}"
            )
        first = dtype


def check_complex(operation: str, op: Any, *tensors: Tensor) -> None:
    """Refuse an order of numbers that have none."""
    if any(tensor.is_complex() for tensor in tensors) and not supports_complex(op):
        raise ValueError(f"{operation} does not support {op} on complex tensors")


def answer(work: Work, async_op: bool) -> Work | None:
    """Return the work, or wait for it."""
    if async_op:
        return work
    work.wait()
    return None
