"""What programs tell the compiler of torch. Functions run as they are written, so that it changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..._calls.compiled import compile
from ..._devices.absent import Switch
from ..._lazy import on_first_use
from ..._module_aliases import add_module_aliases
from ...compiler import allow_in_graph, assume_constant_result, disable, is_compiling, reset
from . import config
from .eval_frame import OptimizedModule

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "disallow_in_graph",
    "explain",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "list_backends",
    "lookup_backend",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "optimize",
    "optimize_assert",
    "register_backend",
    "reset",
    "run",
    "set_stance",
    "substitute_in_graph",
]

__getattr__, __dir__ = on_first_use(
    globals(),
    rooms={"_trace_wrapped_higher_order_op", "comptime", "eval_frame", "test_case", "testing", "utils"},
)
add_module_aliases(
    globals(),
    {
        "external_utils": {"...compiler": "is_compiling"},
        "exc": {"._exceptions": "BackendCompilerFailed TorchDynamoException Unsupported UserError"},
        "decorators": {
            ".": "allow_in_graph assume_constant_result disable disallow_in_graph graph_break "
            "mark_dynamic mark_static mark_static_address maybe_mark_dynamic substitute_in_graph"
        },
    },
)

_backends: dict[str, Callable[..., Any]] = {}

# Nothing is compiled: these give functions back.
disallow_in_graph = forbid_in_graph = nonstrict_trace = run = dont_skip_tracing = allow_in_graph


class set_stance(Switch):
    """A block, or everything from now on, in which functions would be compiled otherwise."""


def optimize(backend: Any = "inductor", **options: Any) -> Callable[[Any], Any]:
    """Return a decorator that gives functions and modules as `compile` does."""

    def decorate(model: Any) -> Any:
        return compile(model, backend=backend)

    return decorate


optimize_assert = optimize


def substitute_in_graph(original_fn: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator that leaves a function as it is."""
    return allow_in_graph


def graph_break(msg: str = "") -> None:
    """Say that a compiled stretch ends here."""


def mark_dynamic(t: Any, index: Any, **bounds: Any) -> None:
    """Say that sizes of a tensor vary."""


maybe_mark_dynamic = mark_dynamic


def mark_static(t: Any, index: Any = None) -> None:
    """Say that sizes of a tensor do not vary."""


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Say that a tensor stays where it is."""


def register_backend(compiler_fn: Any = None, name: str | None = None, tags: Any = ()) -> Any:
    """Give a compiler a name. It is kept, and nobody calls it."""
    if compiler_fn is None:
        return lambda function: register_backend(function, name, tags)
    _backends[name or compiler_fn.__name__] = compiler_fn
    return compiler_fn


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Return the names of compilers: the one that is here, and those that were registered.

    >>> import rushlight as torch
    >>> torch._dynamo.list_backends()
    ['inductor']
    """
    ours = ["inductor"] if exclude_tags else ["aot_eager", "eager", "inductor"]
    return sorted({*ours, *_backends})


def lookup_backend(compiler_fn: Any) -> Any:
    """Return the compiler of a name. Those of torch's names give back what they are given."""
    if not isinstance(compiler_fn, str):
        return compiler_fn
    if compiler_fn in _backends:
        return _backends[compiler_fn]
    if compiler_fn in list_backends(()):
        return lambda module, inputs: module
    from ._exceptions import InvalidBackend

    raise InvalidBackend(compiler_fn)


class ExplainOutput(NamedTuple):
    """What would be compiled of a function: nothing."""

    graphs: list[Any]
    graph_count: int
    graph_break_count: int
    break_reasons: list[Any]
    op_count: int


def explain(f: Callable[..., Any], *extra: Any, **more: Any) -> Callable[..., ExplainOutput]:
    """Return a function that calls another and says what was compiled of it: nothing."""

    def call(*args: Any, **kwargs: Any) -> ExplainOutput:
        f(*args, **kwargs)
        return ExplainOutput([], 0, 0, [], 0)

    return call
