"""Looking at the graph: its nodes and edges, and hooks on several tensors at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import NamedTuple

from .. import _rushlight
from .._lazy import on_first_use
from .._rushlight import RemovableHandle, Tensor, _FunctionBase, _Node
from ._saved_tensors import _AllowMutationOnSavedContext as _AllowMutationOnSavedContext
from ._saved_tensors import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from .grad_mode import enable_grad
from .variable import Variable

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Literal

    from ..inspection.holders import why_alive as why_alive
    from ..inspection.memory import memory as memory
else:
    __getattr__, __dir__ = on_first_use(
        globals(),
        places={
            "..inspection": "memory why_alive",
        },
    )

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "region_activation_memory_budget",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_override_stale_capture_stream",
    "set_warn_on_accumulate_grad_stream_mismatch",
]


class Node(ABC):
    """What every `grad_fn` is an instance of. Nodes come from recording; none can be made by hand."""

    @abstractmethod
    def name(self) -> str:
        """Return the name of the operation.

        >>> import rushlight as torch
        >>> torch.ones(2, requires_grad=True).exp().grad_fn.name()
        'ExpBackward0'
        """
        raise NotImplementedError

    @property
    @abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Where the gradients go: a node and the number of its output for every input."""
        raise NotImplementedError

    @abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """Return a dictionary for whatever a user wants to attach. It lives as long as the node."""
        raise NotImplementedError

    @property
    @abstractmethod
    def _input_metadata(self) -> list[Any]:
        """What the outputs look like."""
        raise NotImplementedError

    @abstractmethod
    def _sequence_nr(self) -> int:
        """Return the position on the tape."""
        raise NotImplementedError

    @abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node has run; what it returns replaces the first.

        >>> import rushlight as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> y = x.exp()
        >>> handle = y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (grad_inputs[0] * 0,))
        >>> y.sum().backward()
        >>> x.grad
        tensor([0., 0.])
        """
        raise NotImplementedError

    @abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs; what it returns replaces them.

        >>> import rushlight as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> handle = y.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 2,))
        >>> y.sum().backward()
        >>> x.grad
        tensor([6., 6.])
        """
        raise NotImplementedError

    @abstractmethod
    def _register_hook_dict(self, tensor: Tensor) -> None:
        """Take note of the hooks of a tensor that the node made."""
        raise NotImplementedError

    @classmethod
    def __subclasshook__(cls, subclass: type) -> bool:
        from .function import BackwardCFunction

        # Functions that users write are none: their nodes are of classes beside theirs.
        if cls is Node and issubclass(subclass, (_Node, BackwardCFunction)):
            return True
        hook: bool = NotImplemented
        return hook


class GradientEdge(NamedTuple):
    """Where a gradient goes: an output of a node. It can stand for a tensor in `backward` and `grad`.

    >>> import rushlight as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> edge = torch.autograd.graph.GradientEdge(y.grad_fn, 0)
    >>> torch.autograd.grad(edge, x)
    (tensor(6.),)
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge along which the gradient of `tensor` travels; it keeps the graph, not the tensor.

    >>> import rushlight as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> edge = torch.autograd.graph.get_gradient_edge(x * x)
    >>> edge.node.name(), edge.output_nr
    ('MulBackward0', 0)
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    node = _get_grad_fn_or_grad_acc(tensor)
    token = None
    if isinstance(node, _FunctionBase):
        # A context does not keep its node.
        with enable_grad():
            token = tensor.view_as(tensor).grad_fn
    return GradientEdge(node, tensor.output_nr, ownership_token=token)


def _get_grad_fn_or_grad_acc(tensor: Tensor | GradientEdge) -> Any:
    if isinstance(tensor, GradientEdge):
        return tensor.node
    if tensor.requires_grad and tensor.grad_fn is None:
        with enable_grad():
            node = tensor.view_as(tensor).grad_fn.next_functions[0][0]
    else:
        node = tensor.grad_fn
    if node is None:
        raise AssertionError("Expected gradient function to be set")
    return node


def _engine_run_backward(t_outputs: Sequence[Tensor | GradientEdge], *args: Any, **kwargs: Any) -> Any:
    """Run the engine, by which all derivatives are calculated."""
    return Variable._execution_engine.run_backward(t_outputs, *args, **kwargs)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Say that tensors were written to in a way that autograd could not see.

    >>> import rushlight as torch
    >>> x = torch.zeros(2)
    >>> torch.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    if isinstance(tensor, Tensor):
        tensor = (tensor,)
    elif not hasattr(tensor, "__iter__"):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for one in tensor:
        if not isinstance(one, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        _rushlight._increment_version((one,))


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Do nothing: on the processor there are no streams that could differ.

    >>> import rushlight as torch
    >>> torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    """
    _check_switch(enabled)


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Do nothing: on the processor there are no streams that could be stale.

    >>> import rushlight as torch
    >>> torch.autograd.graph.set_override_stale_capture_stream(False)
    """
    _check_switch(enabled)


def _check_switch(enabled: object) -> None:
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type(enabled).__name__}")


def region_activation_memory_budget(budget: float) -> AbstractContextManager[None]:
    """Say how much a compiled region may keep; nothing is compiled here, so that this always raises.

    >>> import rushlight as torch
    >>> torch.autograd.graph.region_activation_memory_budget(0.5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: torch.autograd.graph.region_activation_memory_budget can only be used inside ...
    """
    name = "torch.autograd.graph.region_activation_memory_budget"
    if isinstance(budget, bool) or not isinstance(budget, (int, float)):
        raise TypeError(f"{name}: expects a float, got {type(budget).__name__}")
    if not 0.0 <= budget <= 1.0:
        raise ValueError(f"{name}: must be in [0, 1], got {budget}")
    raise RuntimeError(
        f"{name} can only be used inside a torch.compile region; it has no effect in eager mode."
    )


class _MultiHandle(RemovableHandle):
    """Removes the hook from all tensors that it is on."""

    def __new__(cls, handles: tuple[RemovableHandle, ...]) -> _MultiHandle:
        # It is in no dictionary of its own.
        return super().__new__(cls, OrderedDict())

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __getstate__(self) -> tuple[RemovableHandle, ...]:
        return self.handles

    def __setstate__(self, state: tuple[RemovableHandle, ...]) -> None:
        self.handles = state

    def __reduce__(self) -> tuple[Any, ...]:
        return _MultiHandle, ((),), self.handles


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Tensor | None]], None] | Callable[[Tensor], None],
    *,
    mode: Literal["all", "any"] = "all",
) -> RemovableHandle:
    """Call `fn` once in every backward pass: with all gradients of `tensors`, or with `any` of them first.

    >>> import rushlight as torch
    >>> a, b = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    >>> handle = torch.autograd.graph.register_multi_grad_hook((a, b), print)
    >>> (a * b).backward()
    [tensor(3.), tensor(2.)]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        handles = _hook_any(tensors, fn)
    else:
        handles = _hook_all(tensors, fn)
    return _MultiHandle(handles)


def _hook_any(tensors: Sequence[Tensor], fn: Callable[..., None]) -> tuple[RemovableHandle, ...]:
    from functools import wraps

    # Runs do not end in the order in which they begin; what is forgotten would be called twice.
    ran: set[int] = set()

    @wraps(fn)
    def first(grad: Tensor) -> None:
        run = _run()
        if run not in ran:
            ran.add(run)
            fn(grad)

    return tuple(tensor.register_hook(first) for tensor in tensors if tensor.requires_grad)


def _hook_all(tensors: Sequence[Tensor], fn: Callable[..., None]) -> tuple[RemovableHandle, ...]:
    nodes = [_get_grad_fn_or_grad_acc(tensor) for tensor in tensors]
    # By run: the gradients so far, and how many are still to come.
    buffers: dict[int, tuple[list[Tensor | None], list[int]]] = {}

    def make_hook(index: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            run = _run()
            if run not in buffers:
                waiting = sum(map(_rushlight._will_engine_execute_node, nodes))
                buffers[run] = ([None] * len(nodes), [waiting])
            gradients, waiting_for = buffers[run]
            gradients[index] = grad
            waiting_for[0] -= 1
            if waiting_for[0] == 0:
                del buffers[run]
                fn(gradients)

        return hook

    return tuple(tensor.register_hook(make_hook(index)) for index, tensor in enumerate(tensors))


def _run() -> int:
    run = _rushlight._current_graph_task_id()
    if run == -1:
        raise AssertionError("expected this hook to be called inside a backward call")
    return run
