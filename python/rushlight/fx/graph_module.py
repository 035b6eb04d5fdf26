"""A module that does what a graph says."""

from __future__ import annotations

import copy
import linecache
import weakref
from itertools import count
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor
from ..nn.modules.module import Module
from ._code import PythonCode, _PyTreeCodeGen
from ._naming import KNOWN
from .graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["GraphModule", "reduce_graph_module"]

_REMINDER = "# To see more debug info, please use `graph_module.print_readable()`"
_numbers = count()


def _function_of(code: PythonCode, owner: type) -> Callable[..., Any]:
    """Return the function that a text defines. Errors in it show its lines as long as its class lives."""
    place = f"<eval_with_key>.{next(_numbers)}"
    linecache.cache[place] = len(code.src), None, code.src.splitlines(keepends=True), place
    weakref.finalize(owner, linecache.cache.pop, place, None)
    known = dict(code.globals)
    exec(compile(code.src, place, "exec"), known)  # The text is what the graph has written.
    function: Callable[..., Any] = known["forward"]
    return function


def _take(source: Any, target: Module, path: str) -> None:
    """Give a module an attribute that another has, with modules on the way to it."""
    *prefix, name = path.split(".")
    for part in prefix:
        inner = getattr(target, part, None)
        source = getattr(source, part)
        if inner is source:
            # It has been taken as a whole.
            return
        if inner is None:
            inner = Module()
            setattr(target, part, inner)
        target = inner
    value = getattr(source, name)
    if isinstance(value, Tensor) and name in getattr(source, "_buffers", {}):
        target.register_buffer(name, value, name not in source._non_persistent_buffers_set)
    else:
        setattr(target, name, value)


def _put(value: Any, target: Module, path: str) -> None:
    """Give a module an attribute of its own."""
    *prefix, name = path.split(".")
    for part in prefix:
        if not hasattr(target, part):
            setattr(target, part, Module())
        target = getattr(target, part)
    setattr(target, name, value)


def _plain_copy(value: Any) -> Any:
    return value


class GraphModule(Module):
    """A module whose `forward` is the code of its graph.

    Whoever changes the graph calls `recompile`, after which the module does what the graph says now. Every
    module of this kind has a class of its own, which has that `forward`.

    >>> import operator
    >>> import rushlight as torch
    >>> traced = torch.fx.symbolic_trace(lambda x: x + 1)
    >>> for node in traced.graph.find_nodes(op="call_function", target=operator.add):
    ...     node.target = operator.mul
    ...     node.args = (node.args[0], 5)
    >>> _ = traced.recompile()
    >>> traced(torch.ones(2))
    tensor([5., 5.])
    """

    _graph: Graph
    _code: str

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        """Make a class for the instance."""
        for base in cls.__mro__:
            if base.__qualname__.endswith("GraphModuleImpl"):
                cls = base.__bases__[0]
                break

        class GraphModuleImpl(cls):  # type: ignore[misc, valid-type]
            """The class of one instance."""

        return super().__new__(GraphModuleImpl)

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        self.__class__.__name__ = class_name
        names = {node.target: node for node in graph.nodes if node.op in ("get_attr", "call_module")}
        if isinstance(root, Module):
            self.training = getattr(root, "training", True)
            for path in names:
                _take(root, self, path)
        elif isinstance(root, dict):
            for path in sorted(names, key=lambda path: path.count(".")):
                if path not in root:
                    raise RuntimeError(
                        f"Node {names[path]} referenced target {path} but that target was not provided in "
                        f"``root``!"
                    )
                _put(root[path], self, path)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self._tracer_cls = graph._tracer_cls
        self._tracer_extras = graph._tracer_extras
        self.meta: dict[str, Any] = (
            dict(getattr(root, "meta", None) or {}) if isinstance(root, Module) else {}
        )
        self._replace_hooks: list[Callable[..., Any]] = []
        self._create_node_hooks: list[Callable[..., Any]] = []
        self._erase_node_hooks: list[Callable[..., Any]] = []
        self.graph = graph

    @property
    def graph(self) -> Graph:
        """The graph; to set another one compiles it."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        # Somebody else's graph stays theirs.
        if g.owning_module is not None and g.owning_module is not self:
            g = copy.deepcopy(g)
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The code of `forward`."""
        return self._code

    def recompile(self) -> PythonCode:
        """Make `forward` of the graph as it is now, and return its code."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec = codegen.pytree_info.in_spec
            self._out_spec = codegen.pytree_info.out_spec
        written = self._graph.python_code(root_module="self")
        self._code = written.src
        type(self).forward = _function_of(written, type(self))
        return written

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module somewhere, with modules on the way to it; tell whether that could be done."""
        *prefix, name = target.split(".")
        place: Module = self
        for part in prefix:
            inner = getattr(place, part, None)
            if inner is None:
                inner = Module()
                setattr(place, part, inner)
            if not isinstance(inner, Module):
                return False
            place = inner
        place.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Take out a module; tell whether there was one."""
        *prefix, name = target.split(".")
        place: Any = self
        for part in prefix:
            place = getattr(place, part, None)
            if not isinstance(place, Module):
                return False
        if not isinstance(getattr(place, name, None), Module):
            return False
        delattr(place, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take out the modules that the graph does not use."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[: end + 1]) for end in range(len(parts)))
                if node.op == "call_module":
                    inner = self.get_submodule(node.target)
                    used.update(f"{node.target}.{name}" for name, _ in inner.named_modules())
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def print_readable(self, print_output: bool = True, **options: Any) -> str:
        """Print the code, with that of graphs inside, and return it."""
        text = _readable(self, type(self).__name__)
        if print_output:
            print(text)
        return text

    def to_folder(self, folder: str | Path, module_name: str = "FxModule") -> None:
        """Refuse: what the module has cannot be written as Python. Save the module instead."""
        raise NotImplementedError("GraphModule.to_folder: save the module with torch.save")

    def __copy__(self) -> GraphModule:
        copied = GraphModule(self, self.graph, type(self).__name__)
        copied.meta = dict(self.meta)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        state = {name: value for name, value in vars(self).items() if name != "_graph"}
        vars(copied).update(copy.deepcopy(state, memo))
        copied.__class__.__name__ = type(self).__name__
        copied.graph = copy.deepcopy(self.graph, memo)
        return copied

    def __reduce__(self) -> Any:
        state = {name: value for name, value in vars(self).items() if name != "_graph"}
        known = {
            name: one for name, one in self.graph.python_code("self").globals.items() if name not in KNOWN
        }
        return reduce_graph_module, (state, known, type(self).__name__)

    def __str__(self) -> str:
        return f"{Module.__repr__(self)}\n{self._code}\n{_REMINDER}"

    def _get_name(self) -> str:
        return type(self).__name__


def _readable(module: GraphModule, name: str) -> str:
    lines = module._code.strip().split("\n")
    inner = "".join(
        f"\n{_readable(child, key)}"
        for key, child in module.named_children()
        if isinstance(child, GraphModule)
    )
    body = "\n".join(f"    {line}".rstrip() for line in lines)
    indented = "\n".join(f"    {line}".rstrip() for line in inner.split("\n")) if inner else ""
    return f"class {name}(torch.nn.Module):\n{body}\n{indented}"


# By their inner names, for modules of others that have two graphs, or copy one their own way.
_copy_attr, _assign_attr = _take, _put
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"


class _CodeOnlyModule(Module):
    """What has the attributes of a module, in a table of them."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


class _Written(Module):
    """What is traced anew from code that was kept."""


def reduce_graph_module(state: dict[str, Any], known: dict[str, Any], class_name: str) -> GraphModule:
    """Return a module from its code, which is traced anew."""
    from ._symbolic_trace import Tracer

    class KeepModules(Tracer):
        """Records calls of all modules as they are."""

        def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
            return True

    source = PythonCode(state["_code"], {**KNOWN, **known})
    kind = type(class_name, (_Written,), {"forward": _plain_copy})
    kind.forward = _function_of(source, kind)  # type: ignore[attr-defined]
    root = kind()
    vars(root).update(state)
    graph = KeepModules().trace(root)
    graph._tracer_cls = state.get("_tracer_cls")
    made = GraphModule(root, graph, class_name)
    for name, value in state.items():
        if name not in vars(made):
            vars(made)[name] = value
    return made
