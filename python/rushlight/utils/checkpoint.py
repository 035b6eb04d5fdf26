"""Checkpointing: a part of a computation keeps its inputs only, and is computed again for backward.

There are two ways. The reentrant one records nothing of the part: it is one node, whose backward runs
the part again and then backward through it. The other one records the part as usual, but its nodes keep
nothing (`_recomputed`).
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager, nullcontext

from .. import autograd
from .._rushlight import Tensor, _is_checkpoint_valid, default_generator
from ..autograd.grad_mode import enable_grad, no_grad
from . import _checkpoint_words as words
from ._pytree import tree_leaves
from ._recomputed import CheckpointError, GraphExecGroup, Part, as_before, precision

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from contextlib import AbstractContextManager
    from typing import Any

    from ._recomputed import Contexts
    from ._selective import (
        SAC_IGNORED_OPS,
        CheckpointPolicy,
        SelectiveCheckpointContext,
        create_selective_checkpoint_contexts,
    )

    ContextFn = Callable[[], Contexts]

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


_debug_everywhere: bool | None = None
_early_stop_everywhere: bool | None = None


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Generator[None]:
    """In the block, `debug` of every checkpoint is this; `None` leaves it to each.

    >>> import rushlight as torch
    >>> from rushlight.utils.checkpoint import checkpoint, set_checkpoint_debug_enabled
    >>> x = torch.ones(2, requires_grad=True)
    >>> with set_checkpoint_debug_enabled(True):
    ...     checkpoint(torch.exp, x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """
    global _debug_everywhere
    before, _debug_everywhere = _debug_everywhere, enabled
    try:
        yield
    finally:
        _debug_everywhere = before


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Generator[None]:
    """In the block, `early_stop` of every checkpoint is this. Backward may run outside of it.

    >>> import rushlight as torch
    >>> from rushlight.utils.checkpoint import checkpoint, set_checkpoint_early_stop
    >>> x = torch.ones(2, requires_grad=True)
    >>> with set_checkpoint_early_stop(False):
    ...     y = checkpoint(torch.exp, x, use_reentrant=False)
    >>> y.sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """
    global _early_stop_everywhere
    before, _early_stop_everywhere = _early_stop_everywhere, enable
    try:
        yield
    finally:
        _early_stop_everywhere = before


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs with every tensor detached: leaves that require grad where the tensors do.

    >>> import rushlight as torch
    >>> from rushlight.utils.checkpoint import detach_variable
    >>> x = torch.ones(1, requires_grad=True)
    >>> leaf, number = detach_variable((x * 2, 3))
    >>> leaf.is_leaf, leaf.requires_grad, number
    (True, True, 3)
    """
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


def _infer_device_type(*args: Any) -> str:
    """Return the device of tensors that are not on the CPU, however deep they are in the arguments."""
    found = [one.device.type for one in tree_leaves(args) if isinstance(one, Tensor)]
    others = [one for one in found if one != "cpu"]
    return others[0] if others else DefaultDeviceType.get_device_type()


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


class CheckpointFunction(autograd.Function):
    """The node of a part that is checkpointed the reentrant way."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the part, unrecorded."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.random_state = default_generator.get_state() if preserve_rng_state else None
        ctx.precision = precision()
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
        with as_before(ctx.random_state, ctx.precision), enable_grad():
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
        stop = early_stop if _early_stop_everywhere is None else _early_stop_everywhere
        part = Part(function, kwargs, preserve, determinism_check, stop)
        if not (debug if _debug_everywhere is None else _debug_everywhere):
            return part.run(args, context_fn())
        if context_fn is not noop_context_fn:
            raise ValueError(words.DEBUG_WITH_CONTEXT)
        return part.run(args, part.logged())
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
