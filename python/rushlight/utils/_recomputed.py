"""A part of a computation that is recorded as usual, but keeps nothing: backward computes it again.

What its nodes would keep is left out by hooks on saved tensors; the first that backward asks for brings
all of it back.
"""

from __future__ import annotations

import sys
import threading
import weakref
from contextlib import ExitStack, contextmanager, nullcontext

from .. import autograd
from .._rushlight import (
    Tensor,
    _current_graph_task_id,
    _interceptors,
    default_generator,
    empty,
    is_grad_enabled,
)
from ..autograd.grad_mode import enable_grad, no_grad
from ..autograd.graph import saved_tensors_hooks
from ..random import fork_rng
from . import _checkpoint_words as words

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable
    from contextlib import AbstractContextManager
    from typing import Any

    from typing_extensions import Self

    from ._operator_log import OperatorLog

    Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """The second computation of a checkpointed part differs from the first."""

    __module__ = "rushlight.utils.checkpoint"


class GraphExecGroup:
    """A block in which backward may run several times over separate regions of a graph.

    Every checkpointed part is computed again at most once in it.

    >>> import rushlight as torch
    >>> from rushlight.utils.checkpoint import GraphExecGroup, checkpoint
    >>> x = torch.ones(2, requires_grad=True)
    >>> y = checkpoint(torch.exp, x, use_reentrant=False)
    >>> with GraphExecGroup():
    ...     y.sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """

    __module__ = "rushlight.utils.checkpoint"

    _current = threading.local()

    def __enter__(self) -> Self:
        if (group := self._get_current_group()) is not None:
            raise RuntimeError(words.GROUP_NESTED.format(group=group))
        self._current.group = self
        return self

    def __exit__(self, *exception: object) -> None:
        self._current.group = None

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return getattr(cls._current, "group", None)


@contextmanager
def as_before(state: Tensor | None, before: tuple[bool, Any, bool] | None) -> Generator[None]:
    """Draw the random numbers of `state` in the block, if there is one, in the precision that was."""
    with ExitStack() as stack:
        if before or precision():
            from ..amp import autocast

            enabled, dtype, caches = before or (False, None, True)
            stack.enter_context(autocast("cpu", dtype=dtype, enabled=enabled, cache_enabled=caches))
        stack.enter_context(fork_rng(devices=[], enabled=state is not None))
        if state is not None:
            default_generator.set_state(state)
        yield


def precision() -> tuple[bool, Any, bool] | None:
    """Return what is told of mixed precision, if anybody ever asked for it."""
    known = sys.modules.get("rushlight.amp._state")
    return None if known is None else (known.state.enabled, known.state.dtype, known.state.caches)


def _shape_and_type(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


_CHECKS: dict[str, Callable[[Tensor], Any]] = {"default": _shape_and_type, "none": lambda tensor: None}


class _Kept(autograd.Function):
    """Keeps the inputs of a part as an operation keeps its own: under the hooks that are in force."""

    generate_vmap_rule = True

    @staticmethod
    def forward(anchor: Tensor, *tensors: Tensor) -> Tensor:
        return anchor.detach()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise AssertionError("nothing leads here")

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Nothing depends on them."""
        return None


def _unseen() -> AbstractContextManager[Any]:
    """Return a block in which modes are not shown operations: those of the checkpoint itself."""
    if not _interceptors():
        return nullcontext()
    from ._python_dispatch import _disable_current_modes

    return _disable_current_modes()


class _Inputs:
    """The positional inputs of a part."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.places = [index for index, value in enumerate(values) if isinstance(value, Tensor)]
        self.values = [None if isinstance(value, Tensor) else value for value in values]
        with _unseen():
            anchor = empty(0, requires_grad=True)
            self.node = _Kept.apply(anchor, *(values[index] for index in self.places)).grad_fn

    def get(self) -> list[Any]:
        """Return them; in a part within a part this computes the outer one again."""
        values = list(self.values)
        for index, tensor in zip(self.places, self.node.saved_tensors, strict=True):
            values[index] = tensor
        return values


_TAKEN = object()


class _Slot:
    """Stands for a tensor that was not kept: what backward has in its place."""

    __slots__ = ("__weakref__", "again")

    def __init__(self) -> None:
        # The tensor as it was computed again, by run of backward; taken out when it was handed over.
        self.again: dict[Hashable, Any] = {}


class _Enough(Exception):
    """Everything that backward needs has been computed again."""


class Part:
    """A part of a computation, from its first run on.

    Inner parts hide what they keep from outer ones, and their inputs are kept by the outer ones: that
    is what hooks on saved tensors do by themselves, since the innermost are in force.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        kwargs: dict[str, Any],
        preserve_rng_state: bool,
        determinism_check: str,
        early_stop: bool,
    ) -> None:
        if determinism_check not in _CHECKS:
            raise ValueError(words.CHECKS.format(names=list(_CHECKS), got=determinism_check))
        self.look = _CHECKS[determinism_check]
        self.function, self.kwargs = function, kwargs
        self.early_stop = early_stop
        self.random_state = default_generator.get_state() if preserve_rng_state else None
        self.precision = precision()
        self.inputs: _Inputs
        self.second_context: AbstractContextManager[Any]
        # What ran, the first and the second time, if somebody is to be told.
        self.logs: tuple[OperatorLog, OperatorLog] | None = None
        self.slots: list[weakref.ref[_Slot]] = []
        self.looks: list[Any] = []
        # How many tensors were computed again, by run of backward.
        self.counts: dict[Hashable, int] = {}
        self.done: set[Hashable] = set()
        self.complete = False
        self.lenient = False

    def logged(self) -> Contexts:
        """Return contexts that note what runs in them, which is told when both do not run the same."""
        from ._operator_log import OperatorLog

        self.logs = OperatorLog(), OperatorLog()
        return self.logs

    def run(self, args: tuple[Any, ...], contexts: Contexts) -> Any:
        """Compute for the first time, in the first of the contexts; backward will use the second."""
        first_context, self.second_context = contexts
        if not is_grad_enabled():
            return self.function(*args, **self.kwargs)
        self.inputs = _Inputs(args)
        failed = False
        with saved_tensors_hooks(self._leave_out, self._bring_back), first_context:
            try:
                result = self.function(*args, **self.kwargs)
            except BaseException:
                failed = True
                raise
        if failed:
            raise RuntimeError(words.SUPPRESSED)
        self.complete = True
        return result

    def _leave_out(self, tensor: Tensor) -> _Slot:
        slot = _Slot()
        self.slots.append(weakref.ref(slot))
        with no_grad():
            self.looks.append(self.look(tensor))
        return slot

    def _bring_back(self, slot: _Slot) -> Tensor:
        try:
            return self._computed_again(slot)
        except CheckpointError as error:
            if self.logs is None:
                raise
            first, second = self.logs
            message = words.LOGS.format(
                first_places=first.traces("original"),
                second_places=second.traces("recompute"),
                first="\n".join(first.lines),
                second="\n".join(second.lines),
            )
            raise CheckpointError(message) from error

    def _computed_again(self, slot: _Slot) -> Tensor:
        group = GraphExecGroup._get_current_group()
        run: Hashable = _current_graph_task_id() if group is None else group
        if run == -1:  # Somebody looks at what a node keeps while there is no run.
            run = object()
        if run not in self.done:
            self._compute_again(run)
        tensor: Tensor = slot.again[run]
        if tensor is _TAKEN:
            extra = "" if group is None else words.UNPACKED_TWICE_IN_GROUP
            raise CheckpointError(words.UNPACKED_TWICE.format(group=extra))
        slot.again[run] = _TAKEN
        return tensor

    def _compute_again(self, run: Hashable) -> None:
        part = weakref.proxy(self)

        def keep(tensor: Tensor) -> Tensor:
            kept: Tensor = part._keep(run, tensor.detach() if tensor.requires_grad else tensor)
            return kept

        inputs = self.inputs.get()
        self.counts[run] = 0
        try:
            with saved_tensors_hooks(keep, lambda tensor: tensor), enable_grad():
                with as_before(self.random_state, self.precision), self.second_context:
                    self.function(*inputs, **self.kwargs)
        except _Enough:
            pass
        self.done.add(run)
        self._compare(run)

    def _keep(self, run: Hashable, tensor: Tensor) -> Tensor:
        index = self.counts[run]
        self.counts[run] += 1
        if index >= len(self.slots):
            if not self.complete:
                # Backward inside of the part itself: there is more to come than was seen so far.
                self.lenient = True
                return tensor
            raise CheckpointError(words.MORE)
        slot = self.slots[index]()
        if slot is not None:
            slot.again[run] = tensor
        if self.early_stop and index + 1 == len(self.slots):
            raise _Enough
        return tensor

    def _compare(self, run: Hashable) -> None:
        """Complain if what was computed again is not what was left out."""
        if self.lenient:
            return
        saved, again = len(self.slots), self.counts[run]
        if saved != again:
            raise CheckpointError(words.FEWER.format(saved=saved, again=again))
        differences = []
        for index, reference in enumerate(self.slots):
            slot = reference()
            look = None if slot is None else self.look(slot.again[run])
            if slot is not None and look != self.looks[index]:
                found = words.DIFFERENCE.format(index=index, saved=self.looks[index], again=look)
                differences.append(found)
        if differences:
            raise CheckpointError(words.DIFFERENT.format(tensors="".join(differences)))
