"""Objects between processes, as what pickle makes of them: only for processes that trust each other."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from .._rushlight import empty, int64, tensor, uint8, zeros
from .._tensors.sharing import frombuffer
from ._checks import check_list, check_other, warn_outside, with_peer
from ._collectives import all_gather, broadcast, gather, scatter
from ._messages_between import recv, send
from ._world import default_group

if TYPE_CHECKING:
    from .._rushlight import Tensor
    from ._process_group import ProcessGroup


def _packed(objects: list[Any]) -> tuple[Tensor, Tensor]:
    """Return objects as bytes, one after another, and how many each has."""
    texts = [pickle.dumps(one, pickle.HIGHEST_PROTOCOL) for one in objects]
    data = frombuffer(bytearray(b"".join(texts)), dtype=uint8) if texts else empty(0, dtype=uint8)
    return data, tensor([len(text) for text in texts], dtype=int64)


def _unpacked(data: Tensor, sizes: Tensor) -> list[Any]:
    view, found = memoryview(data.numpy()), []
    for size in sizes.tolist():
        found.append(pickle.loads(view[:size]))
        view = view[size:]
    return found


def _rows(obj: Any, group: ProcessGroup) -> tuple[Tensor, list[Tensor]]:
    """Return an object as bytes, as many as the largest of all has, and how many each has."""
    data, size = _packed([obj])
    sizes = list(zeros(group.size(), 1, dtype=int64).unbind(0))
    all_gather(sizes, size, group=group)
    row = zeros(max(int(one) for one in sizes), dtype=uint8)
    row[: data.numel()] = data
    return row, sizes


def all_gather_object(object_list: list[Any], obj: Any, group: ProcessGroup | None = None) -> None:
    """Give everybody the objects of all."""
    if warn_outside(group, "all_gather_object"):
        return
    group = group or default_group()
    row, sizes = _rows(obj, group)
    rows = [empty(row.numel(), dtype=uint8) for _ in sizes]
    all_gather(rows, row, group=group)
    for place, (data, size) in enumerate(zip(rows, sizes, strict=True)):
        object_list[place] = _unpacked(data, size)[0]


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    group_dst: int | None = None,
) -> None:
    """Give one process the objects of all."""
    named = with_peer("gather_object", group, dst, group_dst, least=0)
    if named is None:
        return
    group, root = named
    check_list("gather_list", "destination", root == group.rank(), object_gather_list)
    row, sizes = _rows(obj, group)
    rows = [empty(row.numel(), dtype=uint8) for _ in sizes] if group.rank() == root else None
    gather(row, rows, group=group, group_dst=root)
    if rows is not None and object_gather_list is not None:
        for place, (data, size) in enumerate(zip(rows, sizes, strict=True)):
            object_gather_list[place] = _unpacked(data, size)[0]


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Give everybody the objects of one process."""
    named = with_peer("broadcast_object_list", group, src, group_src, least=0)
    if named is None:
        return
    group, root = named
    if group.rank() == root:
        data, sizes = _packed(object_list)
    else:
        sizes = empty(len(object_list), dtype=int64)
    broadcast(sizes, group=group, group_src=root)
    if group.rank() != root:
        data = empty(int(sizes.sum()), dtype=uint8)
    broadcast(data, group=group, group_src=root)
    if group.rank() != root:
        object_list[:] = _unpacked(data, sizes)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    group_src: int | None = None,
) -> None:
    """Give each process one of the objects that one has."""
    named = with_peer("scatter_object_list", group, src, group_src, least=0)
    if named is None:
        return
    group, root = named
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    rows: list[Tensor] | None = None
    sizes: list[Tensor] | None = None
    longest = zeros(1, dtype=int64)
    if group.rank() == root:
        if scatter_object_input_list is None:
            raise ValueError("source rank must provide non-None scatter_object_input_list")
        packed = [_packed([one]) for one in scatter_object_input_list]
        sizes = [size for _, size in packed]
        longest = max(sizes, key=int).clone()
        rows = [zeros(int(longest), dtype=uint8) for _ in packed]
        for row, (data, _) in zip(rows, packed, strict=True):
            row[: data.numel()] = data
    broadcast(longest, group=group, group_src=root)
    received, size = empty(int(longest), dtype=uint8), zeros(1, dtype=int64)
    scatter(received, rows, group=group, group_src=root)
    scatter(size, sizes, group=group, group_src=root)
    scatter_object_output_list[0] = _unpacked(received, size)[0]


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send objects to another process."""
    named = with_peer("send_object_list", group, dst, group_dst)
    if named is None:
        return
    group, peer = named
    check_other(group, peer, "destination")
    data, sizes = _packed(object_list)
    send(sizes, group=group, group_dst=peer)
    send(data, group=group, group_dst=peer)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive as many objects as the list has, and return the rank of who sent them."""
    named = with_peer("recv_object_list", group, src, group_src)
    if named is None:
        return -1
    group, peer = named
    check_other(group, peer, "source")
    sizes = empty(len(object_list), dtype=int64)
    source = recv(sizes, group=group, group_src=peer)
    data = empty(int(sizes.sum()), dtype=uint8)
    recv(data, group=group, group_src=peer)
    object_list[:] = _unpacked(data, sizes)
    return source
