"""Graphs of what happens to tensors below autograd: of operators, as dispatch modes see them."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor
from ...func.debugging import debug_unwrap
from ...nn.modules.module import Module
from ...utils import _pytree as pytree
from ...utils._python_dispatch import TorchDispatchMode
from .._code import _PyTreeCodeGen, _PyTreeInfo
from .._symbolic_trace import Tracer
from ..graph import Graph
from ..graph_module import GraphModule
from ._mutations import Mutations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..node import Node

__all__ = ["ProxyTorchDispatchMode", "get_proxy_mode", "make_fx"]

_modes: list[ProxyTorchDispatchMode] = []


class PythonKeyTracer(Tracer):
    """Gives names to tensors that were there before."""

    def __init__(self) -> None:
        super().__init__(autowrap_modules=())
        self.root = Module()
        self.graph = Graph(tracer_cls=type(self))

    def constant(self, tensor: Tensor) -> Node:
        """Return the node that reads a tensor, which becomes an attribute."""
        name = self.tensor_attrs.get(tensor)
        if name is None:
            parameter = tensor.is_leaf and tensor.requires_grad
            name = self.get_fresh_qualname("_param_constant" if parameter else "_tensor_constant")
            self.tensor_attrs[tensor] = name
            setattr(self.root, name, tensor)
        node = self.graph.get_attr(name)
        node.meta["val"] = tensor.detach()
        return node


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Records every operator, and computes it."""

    def __init__(
        self, tracer: PythonKeyTracer, decompositions: dict[Any, Callable[..., Any]] | None = None
    ) -> None:
        super().__init__()
        self.tracer = tracer
        self.decompositions = decompositions or {}
        # Tensors are kept, so that no other takes the identity of one that is recorded.
        self._nodes: dict[int, tuple[Tensor, Node]] = {}
        # Other tensors on the same memory: what a transform has put around one, or what it was detached from.
        self._places: dict[Any, Node] = {}
        # Who records writes as computations, while a function does so.
        self.mutations: Mutations | None = None

    def note(self, value: Any, node: Node) -> None:
        """Say of which node tensors are the value; of several tensors, each is read from it."""
        if isinstance(value, Tensor):
            self._nodes[id(value)] = value, node
            node.meta["val"] = value.detach() if value.requires_grad else value
            if value.numel():
                self._places[place_of(value)] = node
        elif isinstance(value, (tuple, list)):
            from operator import getitem

            for place, one in enumerate(value):
                self.note(one, self.tracer.graph.call_function(getitem, (node, place)))

    def node_of(self, value: Any) -> Any:
        """Return the node whose value a tensor is, or something else as it is."""
        if not isinstance(value, Tensor):
            return value
        if self.mutations is not None:
            self.mutations.refresh(value)
        known = self._nodes.get(id(value))
        if known is not None:
            return known[1]
        if value.numel() and place_of(value) in self._places:
            return self._places[place_of(value)]
        return self.tracer.constant(value)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        simpler = self.decompositions.get(func)
        if simpler is not None:
            with self:
                return simpler(*args, **kwargs)
        mutations = self.mutations
        if mutations is not None and func._schema.is_mutable and func.overloadpacket.__name__.endswith("_"):
            return mutations.write(func, args, kwargs)
        given, named = pytree.tree_map(self.node_of, args), pytree.tree_map(self.node_of, kwargs)
        result = func(*args, **kwargs)
        target = func if mutations is None else mutations.target(func)
        name = self.tracer.graph._target_to_str(target.overloadpacket.__name__)
        node = self.tracer.graph.create_node("call_function", target, tuple(given), dict(named), name)
        if name.startswith("_unsafe_view"):
            # The engine does not say which sizes it has asked for: those of the result.
            node.args = (node.args[0], list(result.shape))
        # The engine may have one result where the operator has several.
        alone = isinstance(result, Tensor) and len(func._schema.returns) > 1
        self.note((result,) if alone else result, node)
        if mutations is not None:
            mutations.views(func, args, kwargs, result)
        return result


def place_of(tensor: Tensor) -> Any:
    """Return what tensors have in common that are the same memory in the same form."""
    plain = debug_unwrap(tensor)
    return plain.data_ptr(), tuple(plain.shape), plain.stride(), plain.dtype


@contextmanager
def writes_computed(values: Any, without_views: bool) -> Iterator[None]:
    """Record writes in the block as computations, if anything is recorded at all; `values` are its inputs."""
    mode = get_proxy_mode()
    if mode is None or mode.mutations is not None:
        yield
        return
    mutations = mode.mutations = Mutations(mode, without_views)
    try:
        mutations.begin(values)
        yield
        mutations.end()
    finally:
        mode.mutations = None


def get_proxy_mode() -> ProxyTorchDispatchMode | None:
    """Return who records operators at present."""
    return _modes[-1] if _modes else None


@contextmanager
def _recording(mode: ProxyTorchDispatchMode) -> Iterator[None]:
    _modes.append(mode)
    try:
        with mode:
            yield
    finally:
        _modes.pop()


@contextmanager
def disable_proxy_modes_tracing() -> Iterator[None]:
    """Record nothing in a block."""
    from ...utils._python_dispatch import _disable_current_modes

    with _disable_current_modes():
        yield


def _names_of(function: Callable[..., Any], count: int) -> list[str]:
    """Return the names of the arguments of a function, as inputs of a graph are called."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if any(one.kind is one.VAR_POSITIONAL for one in parameters) or len(parameters) < count:
        return [f"arg{place}" for place in range(count)]
    return [one.name for one in parameters[:count]]


def make_fx(
    f: Callable[..., Any],
    decomposition_table: dict[Any, Callable[..., Any]] | None = None,
    tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False,
    *,
    pre_dispatch: bool = False,
    record_module_stack: bool = False,
    _allow_fake_constant: bool = False,
    _error_on_data_dependent_ops: bool = True,
) -> Callable[..., GraphModule]:
    """Return a function that calls another with its arguments, and returns the graph of the operators.

    >>> import rushlight as torch
    >>> from rushlight.fx.experimental.proxy_tensor import make_fx
    >>> def slope(x):
    ...     return torch.func.grad(lambda x: (x * x).sum())(x)
    >>> print(make_fx(lambda x: torch.sin(x) * 2)(torch.ones(3)).code.strip())
    def forward(self, x_1):
        sin = torch.ops.aten.sin.default(x_1);  x_1 = None
        mul = torch.ops.aten.mul.Tensor(sin, 2);  sin = None
        return mul
    """
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f"tracing_mode must be one of 'real', 'fake', 'symbolic', got {tracing_mode}")

    def record(*args: Any) -> GraphModule:
        tracer = PythonKeyTracer()
        mode = ProxyTorchDispatchMode(tracer, decomposition_table)
        leaves, structure = pytree.tree_flatten(args)
        names = _names_of(f, len(args))
        nested = any(not child.is_leaf() for child in structure.children_specs)
        titles = [
            name
            for name, child in zip(names, structure.children_specs, strict=True)
            for _ in range(child.num_leaves)
        ]
        used: dict[str, int] = {}
        for title, leaf in zip(titles, leaves, strict=True):
            used[title] = used.get(title, 0) + 1
            node = tracer.graph.placeholder(f"{title}_{used[title]}")
            if isinstance(leaf, Tensor):
                mode.note(leaf, node)
        with _recording(mode):
            result = f(*args)
        flat, out = pytree.tree_flatten(result)
        returned = pytree.tree_map(mode.node_of, result)
        if nested:
            info = _PyTreeInfo(names, structure, out)
            tracer.graph.set_codegen(_PyTreeCodeGen(info))
            returned = [mode.node_of(one) for one in flat]
        tracer.graph.output(returned, getattr(f, "__annotations__", {}).get("return"))
        tracer.graph.eliminate_dead_code()
        return GraphModule(tracer.root, tracer.graph, getattr(f, "__name__", type(f).__name__))

    return record
