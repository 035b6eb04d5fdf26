"""Gradients of several processes, made one in buckets while backward goes on."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ..._rushlight import empty, int32, mul, zeros
from ...autograd.grad_mode import no_grad
from ...autograd.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..._rushlight import Tensor
    from ...distributed._process_group import ProcessGroup

_UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error "
    "indicates that your module has parameters that were not used in producing loss. You can enable unused "
    "parameter detection by passing the keyword argument `find_unused_parameters=True` to "
    "`torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all `forward` function outputs "
    "participate in calculating loss. \nIf you already have done the above, then the distributed data "
    "parallel module wasn't able to locate the output tensors in the return value of your module's "
    "`forward` function. Please include the loss function and the structure of the return value of "
    "`forward` of your module when reporting this issue (e.g. list, dict, iterable).\nParameter indices "
    "which did not receive grad for rank {rank}: {indices}\n In addition, you can set the environment "
    "variable TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL to print out information about which "
    "particular parameters did not receive gradient on this rank as part of this error"
)


class GradBucket:
    """Gradients that travel together, as a function that is registered for that sees them."""

    def __init__(self, place: int, bucket: _Bucket, is_last: bool) -> None:
        self._place, self._bucket, self._is_last = place, bucket, is_last

    def index(self) -> int:
        """Return which bucket it is."""
        return self._place

    def buffer(self) -> Tensor:
        """Return all gradients in one, of one dimension."""
        return self._bucket.buffer

    def gradients(self) -> list[Tensor]:
        """Return the gradients, on the memory of the buffer."""
        return list(self._bucket.views)

    def is_last(self) -> bool:
        """Tell whether it is the last of a backward."""
        return self._is_last

    def parameters(self) -> list[Tensor]:
        """Return the parameters that the gradients belong to."""
        return list(self._bucket.parameters)

    def set_buffer(self, tensor: Tensor) -> None:
        """Put other numbers into the buffer."""
        self._bucket.buffer.copy_(tensor)


class _Bucket:
    """Some parameters of one type, and memory for their gradients."""

    def __init__(self, parameters: Sequence[Tensor], indices: Sequence[int]) -> None:
        self.parameters, self.indices = list(parameters), list(indices)
        self.renew()

    def renew(self) -> None:
        """Take new memory."""
        sizes = [parameter.numel() for parameter in self.parameters]
        self.buffer = empty(sum(sizes), dtype=self.parameters[0].dtype)
        parts = self.buffer.split(sizes)
        self.views = [part.view(one.shape) for part, one in zip(parts, self.parameters, strict=True)]
        self.missing = len(sizes)
        self.is_given_away = False


def in_buckets(parameters: Sequence[Tensor], first: int, most: int) -> list[_Bucket]:
    """Divide parameters into buckets of about as many bytes, the last first: so gradients come."""
    found: list[list[int]] = []
    open_ones: dict[Any, tuple[list[int], int]] = {}
    for index in range(len(parameters) - 1, -1, -1):
        parameter = parameters[index]
        members, size = open_ones.get(parameter.dtype, ([], 0))
        if not members:
            found.append(members)
        members.append(index)
        size += parameter.numel() * parameter.itemsize
        if size >= (first if found[0] is members else most):
            open_ones.pop(parameter.dtype, None)
        else:
            open_ones[parameter.dtype] = members, size
    return [_Bucket([parameters[index] for index in members], members) for members in found]


class Reducer:
    """What waits for the gradients of parameters and makes them one with those of the other processes."""

    def __init__(
        self,
        parameters: Sequence[Tensor],
        group: ProcessGroup,
        *,
        first: int,
        most: int,
        finds_unused: bool,
        keeps_views: bool,
    ) -> None:
        self._parameters, self._group = list(parameters), group
        self._finds_unused, self._keeps_views = finds_unused, keeps_views
        self.buckets = in_buckets(self._parameters, first, most)
        self._place_of = {
            index: (bucket, place) for bucket in self.buckets for place, index in enumerate(bucket.indices)
        }
        self.divisor = group.size()
        self._hook: tuple[Callable[..., Any], Any] | None = None
        # Whether gradients are waited for; whether one has come; whether this backward ends with `_end`.
        self._expects = self._has_begun = self._is_queued = False
        self._arrived: set[int] = set()
        self._next = 0
        self._had = [False] * len(self._parameters)
        self._works: list[Any] = []
        self._handles = [self._listen(index) for index in range(len(self._parameters))]

    def _listen(self, index: int) -> Any:
        # Parameters outlive what is around their module.
        own = weakref.ref(self)

        def arrive(parameter: Tensor) -> None:
            reducer = own()
            if reducer is not None:
                reducer._take(index)

        return self._parameters[index].register_post_accumulate_grad_hook(arrive)

    def set_hook(self, hook: Callable[..., Any], state: Any) -> None:
        """Have a function make gradients one, in the place of a mean."""
        if self._hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self._hook = hook, state

    def check_finished(self) -> None:
        """Refuse to begin anew while a backward has left something out."""
        if self._has_begun:
            missing = " ".join(
                str(index) for index in range(len(self._parameters)) if index not in self._arrived
            )
            raise RuntimeError(_UNFINISHED.format(rank=self._group.rank(), indices=missing))

    def expect(self, outputs: Iterable[Tensor]) -> None:
        """Begin to wait for the gradients that a backward from these outputs will bring."""
        self._expects, self._has_begun, self._is_queued = True, False, False
        self._arrived.clear()
        self._works.clear()
        self._next = 0
        # Gradients that are there stay where they are; others may be on the memory of a bucket.
        self._had = [parameter.grad is not None for parameter in self._parameters]
        for bucket in self.buckets:
            bucket.missing = len(bucket.parameters)
            if bucket.is_given_away:
                bucket.renew()
        if self._finds_unused:
            # Perhaps no parameter gets a gradient, and the others wait all the same.
            for output in outputs:
                if output.requires_grad:
                    output.register_hook(self._note)

    def _note(self, gradient: Tensor) -> None:
        if self._expects:
            self._begin()

    def _begin(self) -> None:
        self._has_begun = True
        if not self._is_queued:
            self._is_queued = True
            Variable._execution_engine.queue_callback(self._end)

    def _take(self, index: int) -> None:
        """Put the gradient of a parameter into its bucket, and send off what is full."""
        if not self._expects:
            return
        self._begin()
        if index in self._arrived:
            raise RuntimeError(
                "Expected to mark a variable ready only once. This error is caused by one of the following "
                "reasons: 1) Use of a module parameter outside the `forward` function. 2) Reused parameters "
                f"in multiple reentrant backward passes. Parameter at index {index} has been marked as ready "
                "twice."
            )
        self._arrived.add(index)
        self._put(index)
        self._send_off()

    def _put(self, index: int) -> None:
        """Copy the gradient of a parameter to its place."""
        bucket, place = self._place_of[index]
        view, gradient = bucket.views[place], self._parameters[index].grad
        with no_grad():
            if gradient is None:
                view.zero_()
            elif self._hook is None:
                mul(gradient.detach(), 1 / self.divisor, out=view)
            elif gradient.data_ptr() != view.data_ptr():
                view.copy_(gradient.detach())
        bucket.missing -= 1

    def _send_off(self) -> None:
        # In one order everywhere, whichever is full first.
        while self._next < len(self.buckets) and not self.buckets[self._next].missing:
            self._works.append(self._reduce(self._next))
            self._next += 1

    def _reduce(self, place: int) -> Any:
        bucket = self.buckets[place]
        if self._hook is None:
            return self._group.allreduce([bucket.buffer])
        hook, state = self._hook
        return hook(state, GradBucket(place, bucket, place == len(self.buckets) - 1))

    def _end(self) -> None:
        """Wait for what travels, and let the parameters have it."""
        self._is_queued = False
        if len(self._arrived) < len(self._parameters):
            if not self._finds_unused:
                return
            for index in self._place_of:
                if index not in self._arrived:
                    # What it has from before is part of the mean.
                    self._put(index)
            self._send_off()
        used = self._used_somewhere() if self._finds_unused else None
        for place, work in enumerate(self._works):
            answer = work.wait()
            if self._hook is not None:
                reduced = answer[0] if isinstance(answer, (list, tuple)) else answer
                buffer = self.buckets[place].buffer
                if reduced.data_ptr() != buffer.data_ptr():
                    buffer.copy_(reduced.detach().view(-1))
        self._works.clear()
        with no_grad():
            for index, (bucket, place) in self._place_of.items():
                if used is None or used[index]:
                    self._give(index, bucket, bucket.views[place])
        self._expects = self._has_begun = False

    def _give(self, index: int, bucket: _Bucket, view: Tensor) -> None:
        parameter = self._parameters[index]
        if self._keeps_views:
            parameter.grad = view
        elif self._had[index] and parameter.grad is not None:
            parameter.grad.detach().copy_(view)
        else:
            parameter.grad = view
            bucket.is_given_away = True

    def _used_somewhere(self) -> list[bool]:
        used = zeros(len(self._parameters), dtype=int32)
        for index in self._arrived:
            used[index] = 1
        self._group.allreduce([used]).wait()
        return [bool(one) for one in used.tolist()]

    def stand_in(self) -> None:
        """Take part in a backward of the others with nothing but zeros."""
        for bucket in self.buckets:
            bucket.buffer.zero_()
        works = [self._reduce(place) for place in range(len(self.buckets))]
        if self._finds_unused:
            self._group.allreduce([zeros(len(self._parameters), dtype=int32)]).wait()
        for work in works:
            work.wait()

    def stop(self) -> None:
        """Wait for gradients no more."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
