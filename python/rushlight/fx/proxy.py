"""What stands for a value while a function is traced: it records what is done with it."""

from __future__ import annotations

import dis
import enum
import inspect
import operator
from collections import OrderedDict
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from .._ops import OpOverload
from ..overrides import is_tensor_method_or_property
from ..utils._pytree import tree_leaves
from ._operators import magic_methods, reflectable_magic_methods
from .node import Node, base_types, map_arg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .._rushlight import Size, Tensor
    from .graph import Graph

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "TraceError", "TracerBase"]

_NOT_ITERATED = (
    "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a "
    "*args or "
    "**kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of "
    "what "
    "types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy "
    "iteration errors"
)


class TraceError(ValueError):
    """What a function does cannot be recorded."""


class Scope:
    """The module that is being called: where it stands, and its class."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """A block in which another module is being called."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._before = scope.module_path, scope.module_type
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type
        self._scope = scope

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *exception: object) -> None:
        self._scope.module_path, self._scope.module_type = self._before


class TracerBase:
    """Records nodes in a graph."""

    graph: Graph
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    scope: Scope
    module_stack: OrderedDict[str, tuple[str, Any]]
    node_name_to_scope: dict[str, tuple[str, Any]]

    def create_node(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node to the graph. Override it to check or change what is recorded."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = self.scope.module_path, self.scope.module_type
        if self.module_stack:
            node.meta["nn_module_stack"] = self.module_stack.copy()
        if self.record_stack_traces and not node.stack_trace:
            import traceback

            node.stack_trace = "".join(traceback.format_list(_frames_of_forward()))
        return node

    def proxy(self, node: Node) -> Proxy:
        """Return what stands for the value of a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Add a node, and return what stands for its value."""
        given, named = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, given, named, name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Any:
        """Return a value as nodes have it among their arguments."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            parts = [self.create_arg(one) for one in a]
            return type(a)(*parts) if hasattr(a, "_fields") else type(a)(parts)
        if isinstance(a, list):
            return [self.create_arg(one) for one in a]
        if isinstance(a, dict):
            return {self._key(key): self.create_arg(one) for key, one in a.items()}
        if isinstance(a, (slice, range)):
            return type(a)(*(self.create_arg(one) for one in (a.start, a.stop, a.step)))
        if isinstance(a, OpOverload):
            return a
        if is_dataclass(a) and not isinstance(a, type):
            named = {one.name: self.create_arg(getattr(a, one.name)) for one in fields(a)}
            return self.create_node("call_function", type(a), (), named)
        if isinstance(a, (*base_types, enum.Enum)) or a is None or a is ...:
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key: Any) -> Any:
        if isinstance(key, str):
            return key

        def refuse(node: Node) -> Any:
            raise RuntimeError(
                f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {node}"
            )

        return map_arg(self.create_arg(key), refuse)

    def to_bool(self, obj: Proxy) -> bool:
        """Decide by a value, which is not there: an error, unless a tracer knows better."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Go through a value, which is not there: an error, unless a tracer knows better."""
        raise TraceError(_NOT_ITERATED)

    def keys(self, obj: Proxy) -> Any:
        """Return the keys of a value."""
        return Attribute(obj, "keys")()


def _frames_of_forward() -> Any:
    import traceback

    frames = traceback.extract_stack()
    first = next((place for place, frame in enumerate(frames) if frame.name == "forward"), len(frames))
    inside = __file__.rpartition("/")[0]
    return [frame for frame in frames[first:] if not frame.filename.startswith(inside)]


class GraphAppendingTracer(TracerBase):
    """Adds nodes to a graph outside of any tracing."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}


def assert_fn(x: object) -> None:
    """Fail if something does not hold: the node of an assertion."""
    if not x:
        raise AssertionError("Assertion failed")


def _instruction(frame: Any) -> tuple[list[dis.Instruction], int]:
    """Return the instructions of a frame, and at which it is."""
    instructions = list(dis.get_instructions(frame.f_code))
    place = next(at for at, one in enumerate(instructions) if one.offset >= frame.f_lasti)
    return instructions, place


class Proxy:
    """Stands for the value of a node; what is done with it is recorded as further nodes."""

    tracer: TracerBase
    node: Node

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        # No node yet: most attributes are methods, which are called.
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        from copy import deepcopy

        copied = Proxy.__new__(Proxy)
        copied.__dict__.update(deepcopy(self.__dict__, memo))
        return copied

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Proxy]:
        frame = inspect.currentframe()
        if frame is not None and frame.f_back is not None:
            instructions, place = _instruction(frame.f_back)
            if instructions[place].opname == "UNPACK_SEQUENCE":
                return (self[i] for i in range(instructions[place].argval))  # type: ignore[index]
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        frame = inspect.currentframe()
        if self.tracer.trace_asserts and frame is not None and frame.f_back is not None:
            instructions, place = _instruction(frame.f_back)
            following = instructions[place : place + 3]
            if any(one.opname == "LOAD_ASSERTION_ERROR" for one in following):
                self.tracer.create_proxy("call_function", assert_fn, (self,), {})
                return True
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """Return the keys, which `**` asks for."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, "
            "please call torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(
        cls, orig_method: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Proxy:
        """Record the call of a function."""
        kwargs = kwargs or {}
        tracers = {one.tracer: None for one in tree_leaves((args, kwargs)) if isinstance(one, Proxy)}
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers)} while trying to trace operations "
                f"{orig_method}"
            )
        tracer = next(iter(tracers))
        if is_tensor_method_or_property(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        name = tracer.graph._target_to_str(orig_method.__name__)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=name)


class Attribute(Proxy):
    """An attribute of a value; it becomes a node when it is used otherwise than to be called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that reads it."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """Stands for a parameter, whose sizes are known."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Tensor) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Size:
        """The sizes of the parameter."""
        return self.param.shape

    def size(self) -> Size:
        """Return the sizes of the parameter."""
        return self.param.shape

    def dim(self) -> int:
        """Return how many dimensions the parameter has."""
        return self.param.dim()

    @property
    def ndim(self) -> int:
        """How many dimensions the parameter has."""
        return self.param.dim()

    def numel(self) -> int:
        """Return how many elements the parameter has."""
        return self.param.numel()

    nelement = numel


def _record(name: str) -> Callable[..., Proxy]:
    def impl(*args: Any, **kwargs: Any) -> Proxy:
        recorded: Proxy = args[0].tracer.create_proxy("call_function", getattr(operator, name), args, kwargs)
        return recorded

    return impl


def _record_reflected(name: str) -> Callable[[Proxy, Any], Proxy]:
    def impl(self: Proxy, rhs: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", getattr(operator, name), (rhs, self), {})

    return impl


for _name in magic_methods:
    if hasattr(operator, _name):
        setattr(Proxy, f"__{_name.strip('_')}__", _record(_name))
for _name in reflectable_magic_methods:
    if hasattr(operator, _name):
        setattr(Proxy, f"__r{_name.strip('_')}__", _record_reflected(_name))
