"""The code of graphs: a function in Python that does what the nodes say."""

from __future__ import annotations

import enum
import types
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .._ops import OpOverload
from .._rushlight import Tensor
from ..utils import _pytree as pytree
from ._naming import KNOWN, Namespace, is_from_torch, qualified_name, type_repr
from ._operators import inplace_methods, magic_methods
from .node import Node
from .tensor_type import Dyn, TensorType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["CodeGen", "PythonCode"]


@dataclass
class PythonCode:
    """The text of a function, and what it needs to know."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None = field(default=None)


class _PyTreeInfo(NamedTuple):
    """How arguments and results are nested."""

    orig_args: list[str]
    in_spec: Any
    out_spec: Any


def attribute(base: str, target: str) -> str:
    """Return how an attribute of an attribute is written: `self.layers`, `getattr(self.layers, "0")`."""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


class CodeGen:
    """Writes the function of a graph. Derive from it to have it take or return something else."""

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """Return the line that begins the function."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any) -> str:
        """Return the line that ends the function."""
        return f"return {output_args!r}"

    def process_inputs(self, *args: Any) -> Any:
        """Return what the placeholders get of the arguments of the function."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """Return what the function returns of the output of the graph."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Return what else the function needs to know."""
        return []

    def _gen_python_code(self, nodes: Iterable[Node], root_module: str, namespace: Namespace) -> PythonCode:
        writer = _Writer(self, list(nodes), root_module, namespace)
        return writer.code()


class _PyTreeCodeGen(CodeGen):
    """Writes a function whose arguments and results are nested as they were where it was traced."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *args: Any) -> Any:
        return pytree.arg_tree_leaves(*args)

    def process_outputs(self, outputs: Any) -> Any:
        if self.pytree_info.out_spec is None:
            return outputs
        flat = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        return pytree.tree_unflatten(flat, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        names = [name for name in self.pytree_info.orig_args if name != "self"]
        line = super().gen_fn_def(list(self.pytree_info.orig_args), maybe_return_annotation)
        if free_vars:
            flat = "".join(f"{name.partition(':')[0].strip()}, " for name in free_vars)
            line += f"\n    {flat}= fx_pytree.tree_flatten_spec([{', '.join(names)}], self._in_spec)"
        return line

    def generate_output(self, output_args: Any) -> str:
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args)
        return f"return pytree.tree_unflatten({output_args!r}, self._out_spec)"


class _Writer:
    """One function while it is written."""

    def __init__(self, codegen: CodeGen, nodes: list[Node], root: str, namespace: Namespace) -> None:
        self.codegen, self.nodes, self.root, self.namespace = codegen, nodes, root, namespace
        self.globals: dict[str, Any] = {}
        self.parameters: list[str] = []
        self.wrapped: dict[str, None] = {}
        self.returned = ""
        for name, value in KNOWN.items():
            self.globals[namespace.create_name(name, value)] = value

    def code(self) -> PythonCode:
        last = self._last_uses()
        body: list[str] = []
        for node in self.nodes:
            line = self._line(node)
            if line is None:
                continue
            free = [*last.get(node, ()), *([] if node.users else [node])]
            if node.op not in ("placeholder", "output") and free:
                line += f";  {' = '.join(map(repr, free))} = None"
            body.append(f"{line}\n")
        body = body or ["pass\n"]
        if self.codegen._body_transformer is not None:
            body = self.codegen._body_transformer(body)
        wraps = ""
        if self.wrapped:
            from ._symbolic_trace import wrap

            called = self._known("torch.fx._symbolic_trace.wrap", wrap)
            wraps = "\n".join(f'{called}("{name}")' for name in self.wrapped)
        self.globals.update(self.codegen.additional_globals())
        head = self.codegen.gen_fn_def(self.parameters, self.returned)
        text = "".join(body).lstrip("\n")
        lines = "\n".join(f"    {line}" for line in text.split("\n"))
        return PythonCode(f"\n{wraps}\n\n{head}\n{lines}", self.globals)

    def _last_uses(self) -> dict[Node, list[Node]]:
        """Return what each node is the last to use."""
        seen: set[Node] = set()
        last: dict[Node, list[Node]] = {}
        for node in reversed(self.nodes):
            for used in node.all_input_nodes:
                if used not in seen:
                    seen.add(used)
                    last.setdefault(node, []).append(used)
        return last

    def _known(self, hint: str, value: Any) -> str:
        """Return by which name the function knows something."""
        if is_from_torch(value):
            return hint
        name = self.namespace.create_name(hint, value)
        self.globals[name] = value
        return name

    def _type(self, kind: Any) -> str:
        if kind == ():
            return "()"
        if kind == Dyn:
            return self._known(type_repr(type(kind)), type(kind))
        if isinstance(kind, TensorType):
            sizes = ",".join(map(self._type, kind.dims))
            return f"{type_repr(TensorType)}[{sizes}]"
        inner, origin = typing.get_args(kind), typing.get_origin(kind)
        if origin is types.UnionType:
            return "|".join(map(self._type, inner))
        if origin is None or not inner or (not isinstance(origin, type) and origin is not typing.Union):
            return self._known(type_repr(kind), kind)
        listed = type(kind).__module__ == "typing"
        name = f"typing.{_typing_name(kind)}" if listed else type_repr(origin)
        written = self._known(name, getattr(typing, _typing_name(kind)) if listed else origin)
        return f"{written}[{','.join(map(self._type, inner))}]"

    def _value(self, arg: Any) -> str:
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            name = self._known(qualified_name(type(arg)), type(arg))
            return f"{name}({', '.join(map(self._value, arg))})"
        if isinstance(arg, OpOverload):
            return self._known(qualified_name(arg), arg)
        if isinstance(arg, enum.Enum):
            return f"{self._known(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, Tensor):
            return f"torch.Tensor(size={list(arg.shape)}, dtype={str(arg.dtype).partition('.')[2]})"
        if isinstance(arg, tuple):
            inside = ", ".join(map(self._value, arg))
            return f"({inside},)" if len(arg) == 1 else f"({inside})"
        if isinstance(arg, list):
            return f"[{', '.join(map(self._value, arg))}]"
        if isinstance(arg, slice):
            return f"slice({self._value(arg.start)}, {self._value(arg.stop)}, {self._value(arg.step)})"
        return repr(arg)

    def _arguments(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        given = [self._value(one) for one in args]
        return ", ".join(given + [f"{name} = {self._value(one)}" for name, one in kwargs.items()])

    def _line(self, node: Node) -> str | None:
        """Return the line of a node; that of a placeholder if it goes by another name than its parameter."""
        typed = "" if node.type is None else f" : {self._type(node.type)}"
        if node.op == "placeholder":
            default = f" = {self._value(node.args[0])}" if node.args else ""
            self.parameters.append(f"{node.target}{typed}{default}")
            plain = node.target.replace("*", "")
            return None if plain == repr(node) else f"{node!r} = {plain}"
        if node.op == "output":
            self.returned = "" if node.type is None else f" -> {self._type(node.type)}"
            return self.codegen.generate_output(_Written(node.args[0], self._value))
        return f"{node!r}{typed} = {self._call(node)}" if not self._is_in_place(node) else self._written(node)

    @staticmethod
    def _is_in_place(node: Node) -> bool:
        return node.op == "call_function" and _operator_name(node.target) in inplace_methods

    def _written(self, node: Node) -> str:
        form = inplace_methods[node.target.__name__]
        return f"{form.format(*map(self._value, node.args))};  {node!r} = {self._value(node.args[0])}"

    def _call(self, node: Node) -> str:
        if node.op == "get_attr":
            return attribute(self.root, node.target)
        if node.op == "call_module":
            return f"{attribute(self.root, node.target)}({self._arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            method = attribute(self._value(node.args[0]), node.target)
            return f"{method}({self._arguments(node.args[1:], node.kwargs)})"
        form = magic_methods.get(_operator_name(node.target))
        if form is not None:
            return form.format(*map(self._value, node.args))
        name = self._known(qualified_name(node.target), node.target)
        if name == "getattr" and len(node.args) == 2 and str(node.args[1]).isidentifier():
            return attribute(self._value(node.args[0]), str(node.args[1]))
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(name)
        return f"{name}({self._arguments(node.args, node.kwargs)})"


class _Written:
    """Something that shows as it is written in code."""

    def __init__(self, value: Any, write: Callable[[Any], str]) -> None:
        self.value, self.write = value, write

    def __repr__(self) -> str:
        return _deep(self.value, self.write)


def _deep(value: Any, write: Callable[[Any], str]) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_deep(one, write)}' for key, one in value.items())}}}"
    return write(value)


def _typing_name(kind: Any) -> str:
    """Return what the module `typing` calls a type with others inside."""
    return "Union" if typing.get_origin(kind) is typing.Union else str(kind._name)


def _operator_name(target: Any) -> str:
    return target.__name__ if getattr(target, "__module__", "") == "_operator" else ""
