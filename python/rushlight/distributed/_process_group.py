"""`ProcessGroup`: processes that compute together, and what they can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import zeros
from ._algorithms import Together, memory_of
from ._reduce_op import ReduceOp, check_kind
from ._work import Lane, Message, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import timedelta

    from .._rushlight import Tensor
    from ._stores import Store
    from ._transport import Transport

__all__ = ["ProcessGroup"]

_FAMILY = "ProcessGroupGloo"


class _Flat:
    """Tensors as flat ones: on their own memory if that is in order, or on a copy that is put back."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.all: list[Tensor] = []
        self._copied: list[tuple[Tensor, Tensor]] = []
        for tensor in tensors:
            inner = tensor.data.resolve_conj().resolve_neg()
            if not inner.is_contiguous() or inner.data_ptr() != tensor.data_ptr():
                inner = inner.contiguous()
                self._copied.append((tensor.data, inner))
            self.all.append(inner.view(-1))

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.all)

    def put_back(self) -> None:
        """Write to the tensors what is in the copies."""
        for tensor, inner in self._copied:
            tensor.copy_(inner)


class ProcessGroup:
    """Some of the processes, or all of them. Ranks are those in the group."""

    def __init__(
        self,
        way: Transport,
        ranks: Sequence[int],
        *,
        backend: str,
        store: Store,
        name: str,
        description: str,
        timeout: timedelta,
    ) -> None:
        self._way = way
        # The rank in the world of each of the group.
        self.global_ranks = list(ranks)
        self.backend, self.store = backend, store
        self.group_name, self.group_desc = name, description
        self._lane = Lane(f"process group {name}")
        self.set_timeout(timeout)

    def rank(self) -> int:
        """Return the rank of this process in the group."""
        return self._way.rank

    def size(self) -> int:
        """Return how many processes there are in the group."""
        return self._way.size

    def name(self) -> str:
        """Return what the processes reach each other by."""
        return self.backend

    def get_group_store(self) -> Store:
        """Return the store of the group."""
        return self.store

    def set_timeout(self, timeout: timedelta) -> None:
        """Say how long operations may take."""
        self._timeout = timeout
        self._together = Together(self._way, timeout.total_seconds())

    def part(
        self, ranks: Sequence[int], *, name: str, description: str, timeout: timedelta, store: Store
    ) -> ProcessGroup:
        """Return a group of some of the processes, of which this is one."""
        way = self._way.part(name, ranks)
        about = {"backend": self.backend, "store": store, "name": name, "description": description}
        return ProcessGroup(way, [self.global_ranks[rank] for rank in ranks], timeout=timeout, **about)  # type: ignore[arg-type]

    def _begin(self, act: Callable[[], None], tensors: Sequence[Tensor], now: bool) -> Work:
        work = Work(act, tensors)
        self._lane.begin(work, at_once=now)
        return work

    def _check_root(self, operation: str, root: int) -> None:
        if not 0 <= root < self.size():
            raise RuntimeError(f"{_FAMILY}::{operation}: invalid root rank: {root}")

    def allreduce(
        self, tensors: Sequence[Tensor] | Tensor, op: Any = ReduceOp.SUM, *, now: bool = False
    ) -> Work:
        """Make one of everybody's tensors, in the place of each."""
        given = _listed(tensors)
        kinds = [check_kind(op, tensor) for tensor in given]

        def act() -> None:
            flats = _Flat(given)
            for flat, kind in zip(flats, kinds, strict=True):
                self._together.all_reduce(flat, kind)
            flats.put_back()

        return self._begin(act, given, now)

    def broadcast(self, tensors: Sequence[Tensor] | Tensor, root: int = 0, *, now: bool = False) -> Work:
        """Give everybody what the root has."""
        self._check_root("broadcast", root)
        given = _listed(tensors)

        def act() -> None:
            flats = _Flat(given)
            for flat in flats:
                self._together.broadcast(flat, root)
            flats.put_back()

        return self._begin(act, given, now)

    def reduce(
        self, tensors: Sequence[Tensor] | Tensor, root: int = 0, op: Any = ReduceOp.SUM, *, now: bool = False
    ) -> Work:
        """Make one of everybody's tensors in the place of the root's."""
        self._check_root("reduce", root)
        given = _listed(tensors)
        kinds = [check_kind(op, tensor) for tensor in given]

        def act() -> None:
            flats = _Flat(given)
            for flat, kind in zip(flats, kinds, strict=True):
                # What the others have stays theirs.
                self._together.reduce(flat if self.rank() == root else flat.clone(), root, kind)
            flats.put_back()

        return self._begin(act, given, now)

    def allgather(self, outputs: Sequence[Tensor], tensor: Tensor, *, now: bool = False) -> Work:
        """Give everybody what each has."""
        self._check_list("allgather", outputs, tensor)

        def act() -> None:
            parts, mine = _Flat(outputs), _Flat([tensor])
            self._together.all_gather(parts.all, mine.all[0])
            parts.put_back()

        return self._begin(act, outputs, now)

    def gather(self, outputs: Sequence[Tensor], tensor: Tensor, root: int, *, now: bool = False) -> Work:
        """Give the root what each has."""
        self._check_root("gather", root)
        if self.rank() == root:
            self._check_count("gather", "output", outputs)

        def act() -> None:
            parts, mine = _Flat(outputs), _Flat([tensor])
            self._together.gather(parts.all, mine.all[0], root)
            parts.put_back()

        return self._begin(act, outputs, now)

    def scatter(self, output: Tensor, inputs: Sequence[Tensor], root: int, *, now: bool = False) -> Work:
        """Give each what the root has for it."""
        self._check_root("scatter", root)
        if self.rank() == root:
            self._check_count("scatter", "input", inputs)

        def act() -> None:
            parts, mine = _Flat(inputs), _Flat([output])
            self._together.scatter(mine.all[0], parts.all, root)
            mine.put_back()

        return self._begin(act, [output], now)

    def reduce_scatter(
        self, output: Tensor, inputs: Sequence[Tensor], op: Any = ReduceOp.SUM, *, now: bool = False
    ) -> Work:
        """Make one of everybody's tensors for each process."""
        kind = check_kind(op, output)
        self._check_list("reduce_scatter", inputs, output)

        def act() -> None:
            parts, mine = _Flat(inputs), _Flat([output])
            self._together.reduce_scatter(mine.all[0], parts.all, kind)
            mine.put_back()

        return self._begin(act, [output], now)

    def alltoall(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], *, now: bool = False) -> Work:
        """Send something to each, and receive something from each."""
        self._check_count("alltoall", "output", outputs)
        self._check_count("alltoall", "input", inputs)
        rank = self.rank()
        if outputs[rank].numel() != inputs[rank].numel():
            raise RuntimeError(f"{_FAMILY}::alltoall: tensors of rank {rank} for itself differ in size")

        def act() -> None:
            received, sent = _Flat(outputs), _Flat(inputs)
            self._together.all_to_all(received.all, sent.all)
            received.put_back()

        return self._begin(act, outputs, now)

    def barrier(self, *, now: bool = False) -> Work:
        """Wait for everybody."""
        return self.allreduce([zeros(1)], now=now)

    def send(self, tensors: Sequence[Tensor], peer: int, tag: int = 0) -> Work:
        """Send a tensor to another process."""
        self._check_peer("send", peer)
        flat = _Flat(tensors[:1]).all[0]
        transfer = self._way.begin_send(peer, _channel(tag), memory_of(flat))
        return Message(transfer, tensors, self._together.seconds, None)

    def recv(self, tensors: Sequence[Tensor], peer: int, tag: int = 0) -> Work:
        """Receive a tensor from another process."""
        self._check_peer("recv", peer)
        return self._await(tensors, peer, tag)

    def recv_anysource(self, tensors: Sequence[Tensor], tag: int = 0) -> Work:
        """Receive a tensor from whoever sends one."""
        return self._await(tensors, None, tag)

    def _await(self, tensors: Sequence[Tensor], peer: int | None, tag: int) -> Work:
        flats = _Flat(tensors[:1])
        transfer = self._way.begin_receive(peer, _channel(tag), memory_of(flats.all[0]))
        return Message(transfer, tensors, self._together.seconds, flats.put_back)

    def _check_peer(self, operation: str, peer: int) -> None:
        if not 0 <= peer < self.size() or peer == self.rank():
            raise RuntimeError(f"{_FAMILY}::{operation}: invalid rank: {peer}")

    def _check_count(self, operation: str, side: str, tensors: Sequence[Tensor]) -> None:
        if len(tensors) != self.size():
            raise RuntimeError(
                f"{_FAMILY}::{operation}: Incorrect {side} list size {len(tensors)}. {side.capitalize()} "
                f"list size should be {self.size()}, same as size of the process group."
            )

    def _check_list(self, operation: str, tensors: Sequence[Tensor], like: Tensor) -> None:
        begin = f"{_FAMILY}::{operation}: invalid"
        if len(tensors) != self.size():
            raise RuntimeError(
                f"{begin} output tensor list at index 0 (expected length {self.size()}, got {len(tensors)})"
            )
        for place, tensor in enumerate(tensors):
            if tensor.shape != like.shape:
                wanted, got = (", ".join(map(str, shape)) for shape in (like.shape, tensor.shape))
                raise RuntimeError(f"{begin} tensor size at index {place} (expected ({wanted}), got ({got}))")

    def abort(self) -> None:
        """Give up: what waits ends with an error."""
        self._way.warn_others("the process group was aborted")

    def shutdown(self) -> None:
        """Say that nothing more will be done."""
        self._lane.close()

    def close(self) -> None:
        """Say that nothing more will be done, and let the others go."""
        self.shutdown()
        self._way.close()


def _listed(tensors: Sequence[Tensor] | Tensor) -> list[Tensor]:
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]  # type: ignore[list-item]


def _channel(tag: int) -> int:
    if not isinstance(tag, int) or not 0 <= tag < 1 << 30:
        raise RuntimeError(f"a tag is a number from 0 to {(1 << 30) - 1}, but got {tag!r}")
    return tag + 1
