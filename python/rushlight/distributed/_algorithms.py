"""How processes compute together, said in messages between two of them.

Tensors are flat here: of one dimension, in order. Each number is reduced in one order and by one process,
so that all have the same bits afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._rushlight import empty_like, uint8
from ._reduce_op import end, step_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._rushlight import Tensor
    from ._reduce_op import RedOpType
    from ._transport import Transport

# Messages of operations that all take part in; those from one to another have channels of their own.
_TOGETHER = 0
# Below as many bytes, few messages are worth more than short ones.
_SHORT = 1 << 14


def memory_of(flat: Tensor) -> memoryview:
    """Return the memory of a flat tensor as bytes."""
    if flat.numel() == 0:
        return memoryview(bytearray())
    return memoryview(flat.view(uint8).numpy())


class Together:
    """The operations of a group, by its way and with the time that they may take."""

    def __init__(self, way: Transport, seconds: float) -> None:
        self.way, self.seconds = way, seconds

    def _send(self, peer: int, flat: Tensor) -> None:
        self.way.begin_send(peer, _TOGETHER, memory_of(flat)).wait(self.seconds)

    def _receive(self, peer: int, flat: Tensor) -> None:
        self.way.begin_receive(peer, _TOGETHER, memory_of(flat)).wait(self.seconds)

    def _swap(self, to: int, sent: Tensor, source: int, received: Tensor) -> None:
        """Send to one and receive from another at once."""
        arriving = self.way.begin_receive(source, _TOGETHER, memory_of(received))
        leaving = self.way.begin_send(to, _TOGETHER, memory_of(sent))
        arriving.wait(self.seconds)
        leaving.wait(self.seconds)

    def broadcast(self, flat: Tensor, root: int) -> None:
        """Give everybody what the root has: who has it hands it on, so that they double."""
        size = self.way.size
        place = (self.way.rank - root) % size
        reach = 1
        while reach < size:
            if place < reach and place + reach < size:
                self._send((place + reach + root) % size, flat)
            elif reach <= place < 2 * reach:
                self._receive((place - reach + root) % size, flat)
            reach *= 2

    def reduce(self, flat: Tensor, root: int, kind: RedOpType) -> None:
        """Make one of all tensors, which the root gets. What others have is written over on the way."""
        self._gather_up(flat, root, kind)
        if self.way.rank == root:
            end(kind, flat, self.way.size)

    def _gather_up(self, flat: Tensor, root: int, kind: RedOpType) -> None:
        size, step = self.way.size, step_of(kind)
        place = (self.way.rank - root) % size
        other: Tensor | None = None
        reach = 1
        while reach < size:
            if place % (2 * reach):
                self._send((place - reach + root) % size, flat)
                return
            if place + reach < size:
                other = empty_like(flat) if other is None else other
                self._receive((place + reach + root) % size, other)
                step(flat, other)
            reach *= 2

    def all_reduce(self, flat: Tensor, kind: RedOpType) -> None:
        """Make one of all tensors, which everybody gets."""
        size = self.way.size
        if size == 1:
            end(kind, flat, 1)
        elif flat.numel() * flat.itemsize <= _SHORT or flat.numel() < size:
            self.reduce(flat, 0, kind)
            self.broadcast(flat, 0)
        else:
            parts = list(flat.tensor_split(size))
            self.reduce_scatter(parts[self.way.rank], parts, kind)
            self.all_gather(parts, parts[self.way.rank])

    def reduce_scatter(self, out: Tensor, parts: Sequence[Tensor], kind: RedOpType) -> None:
        """Make one of everybody's parts for each process, which gets it.

        What is made for a process goes once around, and each adds its own. `out` may be a part.
        """
        size, rank, step = self.way.size, self.way.rank, step_of(kind)
        made = parts[(rank - 1) % size]
        for behind in range(2, size + 1):
            mine = parts[(rank - behind) % size]
            arrived = empty_like(mine)
            self._swap((rank + 1) % size, made, (rank - 1) % size, arrived)
            if behind < size:
                step(arrived, mine)
                made = arrived
        own = parts[rank]
        if out.data_ptr() != own.data_ptr():
            out.copy_(own)
        if size > 1:
            step(out, arrived)
        end(kind, out, size)

    def all_gather(self, parts: Sequence[Tensor], mine: Tensor) -> None:
        """Give everybody what each has."""
        self.all_to_all(parts, [mine] * self.way.size)

    def all_to_all(self, received: Sequence[Tensor], sent: Sequence[Tensor]) -> None:
        """Send something to each, and receive something from each."""
        size, rank = self.way.size, self.way.rank
        if received[rank].data_ptr() != sent[rank].data_ptr():
            received[rank].copy_(sent[rank])
        # Everybody begins with somebody else.
        others = [(rank + step) % size for step in range(1, size)]
        arriving = [
            self.way.begin_receive(peer, _TOGETHER, memory_of(received[peer])) for peer in reversed(others)
        ]
        leaving = [self.way.begin_send(peer, _TOGETHER, memory_of(sent[peer])) for peer in others]
        for transfer in (*arriving, *leaving):
            transfer.wait(self.seconds)

    def gather(self, parts: Sequence[Tensor], mine: Tensor, root: int) -> None:
        """Give the root what each has."""
        if self.way.rank != root:
            self._send(root, mine)
            return
        others = [peer for peer in range(self.way.size) if peer != root]
        arriving = [self.way.begin_receive(peer, _TOGETHER, memory_of(parts[peer])) for peer in others]
        parts[root].copy_(mine)
        for transfer in arriving:
            transfer.wait(self.seconds)

    def scatter(self, out: Tensor, parts: Sequence[Tensor], root: int) -> None:
        """Give each what the root has for it."""
        if self.way.rank != root:
            self._receive(root, out)
            return
        others = [peer for peer in range(self.way.size) if peer != root]
        leaving = [self.way.begin_send(peer, _TOGETHER, memory_of(parts[peer])) for peer in others]
        out.copy_(parts[root])
        for transfer in leaving:
            transfer.wait(self.seconds)
