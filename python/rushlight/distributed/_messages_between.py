"""Messages from one process to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor
from ._checks import check_other, check_tensor, in_group, in_world, warn_outside, with_peer
from ._world import default_group, get_global_rank

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._process_group import ProcessGroup
    from ._work import Work


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Begin to send a tensor, which has to stay as it is until the work is done."""
    check_tensor(tensor, "tensor")
    named = with_peer("isend", group, dst, group_dst)
    if named is None:
        return None
    group, peer = named
    return group.send([tensor], peer, tag)


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Begin to receive a tensor, from anybody if nobody is named."""
    check_tensor(tensor, "tensor")
    if warn_outside(group, "irecv"):
        return None
    group = group or default_group()
    if src is None and group_src is None:
        return group.recv_anysource([tensor], tag)
    return group.recv([tensor], in_group(group, src, group_src), tag)


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor."""
    named = with_peer("send", group, dst, group_dst)
    if named is None:
        return
    group, peer = named
    check_other(group, peer, "destination")
    work = isend(tensor, group=group, tag=tag, group_dst=peer)
    if work is not None:
        work.wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor, from anybody if nobody is named, and return the rank of who sent it."""
    work = irecv(tensor, src=src, group=group, tag=tag, group_src=group_src)
    if work is None:
        return -1
    work.wait()
    if src is not None:
        return src
    return get_global_rank(group or default_group(), work.source_rank() if group_src is None else group_src)


class P2POp:
    """A message for `batch_isend_irecv`."""

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: ProcessGroup | None = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op = op
        self.tensor = tensor
        self.group = default_group() if group is None else group
        self.peer = in_world(self.group, peer, group_peer)
        self.tag = tag
        self.group_peer = in_group(self.group, peer, group_peer)

    def __repr__(self) -> str:
        ends = self.group.rank(), self.group_peer
        source, target = ends if self.op is isend else ends[::-1]
        return (
            f"P2POp({self.op.__name__} pg={self.group.group_name}, group_src={source}, group_dst={target},  "
            f"{self.tensor.shape}, {self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin several messages."""
    if not isinstance(p2p_op_list, list) or not all(isinstance(one, P2POp) for one in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``."
        )
    group = p2p_op_list[0].group
    if any(one.group is not group for one in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    # What is received is asked for first, so that it can go where it belongs at once.
    begun: dict[int, Work] = {}
    for place, one in sorted(enumerate(p2p_op_list), key=lambda item: item[1].op is isend):
        begin = group.send if one.op is isend else group.recv
        begun[place] = begin([one.tensor], one.group_peer, one.tag)
    return [begun[place] for place in range(len(p2p_op_list))]
