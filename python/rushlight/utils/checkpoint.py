"""Checkpointing: a part of a computation keeps its inputs only, and is computed again for backward.

There are two ways. The reentrant one records nothing of the part: it is one node, whose backward runs
the part again and then backward through it. The other one records the part as usual, but what its nodes
would keep is thrown away, and computed again when backward asks for the first of it.
"""

from __future__ import annotations

import sys
import threading
import warnings
import weakref
from contextlib import ExitStack, contextmanager, nullcontext

from .. import autograd
from .._rushlight import (
    Tensor,
    _current_graph_task_id,
    _interceptors,
    _is_checkpoint_valid,
    empty,
    get_rng_state,
    is_grad_enabled,
    set_rng_state,
)
from ..autograd.grad_mode import enable_grad, no_grad
from ..autograd.graph import saved_tensors_hooks
from ..random import fork_rng
from . import _checkpoint_words as words

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable, Iterable
    from contextlib import AbstractContextManager
    from typing import Any

    from typing_extensions import Self

    from ._operator_log import OperatorLog
    from ._selective import (
        SAC_IGNORED_OPS,
        CheckpointPolicy,
        SelectiveCheckpointContext,
        create_selective_checkpoint_contexts,
    )

    ContextFn = Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]]

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

_SELECTIVE = frozenset(
    {
        "SAC_IGNORED_OPS",
        "CheckpointPolicy",
        "SelectiveCheckpointContext",
        "_CachedTorchDispatchMode",
        "_CachingTorchDispatchMode",
        "create_selective_checkpoint_contexts",
    }
)


def __getattr__(name: str) -> Any:
    """Load what policies need when it is first asked for."""
    if name not in _SELECTIVE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _selective

    return getattr(_selective, name)


class CheckpointError(RuntimeError):
    """The second computation of a checkpointed part differs from the first."""


_debug_everywhere: bool | None = None
_early_stop_everywhere: bool | None = None


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Generator[None]:
    """In the block, `debug` of every checkpoint is this; `None` leaves it to each."""
    global _debug_everywhere
    before, _debug_everywhere = _debug_everywhere, enabled
    try:
        yield
    finally:
        _debug_everywhere = before


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Generator[None]:
    """In the block, `early_stop` of every checkpoint is this. Backward may run outside of it."""
    global _early_stop_everywhere
    before, _early_stop_everywhere = _early_stop_everywhere, enable
    try:
        yield
    finally:
        _early_stop_everywhere = before


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs with every tensor detached: leaves that require grad where the tensors do."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(words.NOT_A_TUPLE.format(kind=type(inputs).__name__))

    def detached(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        leaf = value.detach()
        leaf.requires_grad = value.requires_grad
        return leaf

    return tuple(detached(value) for value in inputs)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among the inputs requires grad."""
    if not any(value.requires_grad for value in inputs if isinstance(value, Tensor)):
        warnings.warn(words.NO_INPUT_REQUIRES_GRAD, stacklevel=2)


class DefaultDeviceType:
    """The device whose random state is kept beside that of the CPU; there is none."""

    _default_device_type: str | None = None

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Say which it is."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        """Return which it is."""
        DefaultDeviceType._default_device_type = DefaultDeviceType._default_device_type or "cpu"
        return DefaultDeviceType._default_device_type


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Return the devices of the tensors that are not on the CPU, and their random states: none."""
    return [], []


def set_device_states(
    devices: Iterable[int], states: Iterable[Tensor], *, device_type: str | None = None
) -> None:
    """Set the random states of devices, of which there is none but the CPU."""
    for _ in zip(devices, states, strict=False):
        device = device_type or DefaultDeviceType.get_device_type()
        raise RuntimeError(words.NO_DEVICE.format(device=device))


def noop_context_fn() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Return two contexts that do nothing, for the first and the second computation."""
    return nullcontext(), nullcontext()


def _precision() -> tuple[bool, Any, bool] | None:
    """Return what is told of mixed precision, if anybody ever asked for it."""
    known = sys.modules.get("rushlight.amp._state")
    return None if known is None else (known.state.enabled, known.state.dtype, known.state.caches)


@contextmanager
def _as_before(random_state: Tensor | None, precision: tuple[bool, Any, bool] | None) -> Generator[None]:
    """Draw the random numbers of a state in the block, if there is one, in the precision that was."""
    with ExitStack() as stack:
        if precision or _precision():
            from ..amp import autocast

            enabled, dtype, caches = precision or (False, None, True)
            stack.enter_context(autocast("cpu", dtype=dtype, enabled=enabled, cache_enabled=caches))
        stack.enter_context(fork_rng(devices=[], enabled=random_state is not None))
        if random_state is not None:
            set_rng_state(random_state)
        yield


class CheckpointFunction(autograd.Function):
    """The node of a part that is checkpointed the reentrant way."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the part, unrecorded."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.random_state = get_rng_state() if preserve_rng_state else None
        ctx.precision = _precision()
        ctx.save_for_backward(*(value for value in args if isinstance(value, Tensor)))
        # Tensors are saved; what stands for them here is where they go.
        ctx.inputs = [None if isinstance(value, Tensor) else value for value in args]
        ctx.places = [index for index, value in enumerate(args) if isinstance(value, Tensor)]
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Run the part again, recorded, and backward through it."""
        if not _is_checkpoint_valid():
            raise RuntimeError(words.NOT_WITH_INPUTS)
        inputs = list(ctx.inputs)
        for index, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[index] = tensor
        leaves = detach_variable(tuple(inputs))
        with _as_before(ctx.random_state, ctx.precision), enable_grad():
            outputs = ctx.run_function(*leaves)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        pairs = zip(outputs, gradients, strict=False)
        wanted = [pair for pair in pairs if isinstance(pair[0], Tensor) and pair[0].requires_grad]
        if not wanted:
            raise RuntimeError(words.NO_OUTPUT_REQUIRES_GRAD)
        autograd.backward([output for output, _ in wanted], [gradient for _, gradient in wanted])
        return (None, None, *(leaf.grad if isinstance(leaf, Tensor) else None for leaf in leaves))


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: ContextFn = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Compute `function(*args, **kwargs)` and keep only the inputs; backward computes it again.

    `preserve_rng_state` (among `kwargs`, true unless given) draws the same random numbers again.
    `context_fn` gives two contexts, for the first and the second computation. `determinism_check` is
    "default" or "none". `early_stop` ends the second computation when backward has what it needs.

    >>> import rushlight as torch
    >>> from rushlight.utils.checkpoint import checkpoint
    >>> x = torch.ones(2, requires_grad=True)
    >>> checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([-2.4783, -2.4783])
    """
    if use_reentrant is None:
        change = "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception."
        warnings.warn(words.NOT_CHOSEN.format(name="torch.utils.checkpoint", change=change), stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        part = _Part(function, kwargs, preserve, determinism_check, early_stop)
        return part.run(args, context_fn, debug)
    if kwargs:
        raise ValueError(words.UNEXPECTED.format(names=",".join(kwargs)))
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError(words.REENTRANT_ONLY)
    return CheckpointFunction.apply(function, preserve, *args)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run functions one after the other, in that many segments, all but the last checkpointed.

    >>> import rushlight as torch
    >>> from rushlight.utils.checkpoint import checkpoint_sequential
    >>> x = torch.ones(2, requires_grad=True)
    >>> checkpoint_sequential([torch.exp, torch.sin], 2, x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([-2.4783, -2.4783])
    """
    if use_reentrant is None:
        change = "In version 2.9 we will raise an exception if use_reentrant is not passed."
        name = "torch.utils.checkpoint.checkpoint_sequential"
        warnings.warn(words.NOT_CHOSEN.format(name=name, change=change), stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(words.UNEXPECTED.format(names=",".join(kwargs)))
    functions = list(functions.children()) if hasattr(functions, "children") else functions

    def run(segment: Any, value: Any) -> Any:
        for function in segment:
            value = function(value)
        return value

    size = len(functions) // segments
    last = 0
    for start in range(0, size * (segments - 1), size):
        last = start + size
        segment = functions[start:last]
        input = checkpoint(
            lambda value, segment=segment: run(segment, value),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return run(functions[last:], input)


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


class _Part:
    """A part that is checkpointed the other way.

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
        self.early_stop = early_stop if _early_stop_everywhere is None else _early_stop_everywhere
        self.random_state = get_rng_state() if preserve_rng_state else None
        self.precision = _precision()
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

    def run(self, args: tuple[Any, ...], context_fn: ContextFn, debug: bool) -> Any:
        """Compute for the first time."""
        if debug if _debug_everywhere is None else _debug_everywhere:
            if context_fn is not noop_context_fn:
                raise ValueError(words.DEBUG_WITH_CONTEXT)
            from ._operator_log import OperatorLog

            self.logs = OperatorLog(), OperatorLog()
            contexts: tuple[AbstractContextManager[Any], AbstractContextManager[Any]] = self.logs
        else:
            contexts = context_fn()
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
                with _as_before(self.random_state, self.precision), self.second_context:
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


class GraphExecGroup:
    """A block in which backward may run several times over separate regions of a graph.

    Every checkpointed part is computed again at most once in it.
    """

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
