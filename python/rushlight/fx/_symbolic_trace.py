"""Tracing: a function is called with what stands for its arguments, and what it does is recorded."""

from __future__ import annotations

import functools
import inspect
import math
import types
import warnings
from collections import OrderedDict
from itertools import chain
from typing import TYPE_CHECKING, Any

from .._functions.assertions import _assert
from .._rushlight import Tensor
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..utils import _pytree as pytree
from ._code import _PyTreeCodeGen, _PyTreeInfo
from ._wrapping import _wrapped_fns_to_patch as _wrapped_fns_to_patch
from ._wrapping import _wrapped_methods_to_patch as _wrapped_methods_to_patch
from ._wrapping import patching, wrap
from .graph import Graph
from .graph_module import GraphModule
from .node import base_types
from .proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["PH", "PHWithMeta", "ProxyableClassMeta", "Tracer", "is_fx_tracing", "symbolic_trace", "wrap"]

_tracing = False
_proxyable_classes: dict[type, None] = {}


def is_fx_tracing() -> bool:
    """Tell whether something is being traced."""
    return _tracing


is_fx_symbolic_tracing = is_fx_tracing


class PHBase:
    """Says of a part of an argument that it is an input of the graph."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """Says so, and what the node is to know of it."""

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


class ProxyableClassMeta(type):
    """The class of classes whose instances are made by nodes if they are made of what stands for values."""

    def __init__(cls, name: str, bases: Any, attrs: Any) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = cls.__new__(cls)  # type: ignore[call-overload]
        if not is_fx_tracing():
            made.__init__(*args, **kwargs)
            return made
        found = [one for one in pytree.tree_leaves((args, kwargs)) if isinstance(one, Proxy)]
        if not found:
            made.__init__(*args, **kwargs)
            return made
        return found[0].tracer.create_proxy("call_function", cls, args, kwargs)


def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


def _with_code(function: types.FunctionType, count: int) -> types.FunctionType:
    """Return a function that takes so many arguments instead of a starred one, which get its names."""
    code = function.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    named = {"co_flags": flags, "co_argcount": count, "co_posonlyargcount": 0, "co_kwonlyargcount": 0}
    return types.FunctionType(
        code.replace(**named),  # type: ignore[arg-type]
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )


def _annotations(function: Any) -> dict[str, Any]:
    """Return the annotations of a function; those written as text as what they name, if it is known."""
    function = inspect.unwrap(function)
    found = dict(inspect.get_annotations(function))
    for name, kind in found.items():
        if isinstance(kind, str):
            try:
                found[name] = eval(kind, {"Tensor": Tensor} | getattr(function, "__globals__", {}))
            except Exception:
                found[name] = None
    return found


class Tracer(TracerBase):
    """Traces functions and modules. Derive from it to have other modules, or values, recorded as they are."""

    def __init__(
        self,
        autowrap_modules: tuple[types.ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        listed = chain.from_iterable(vars(module).items() for module in autowrap_modules)
        self._autowrap_function_ids = {
            id(value) for name, value in listed if not name.startswith("_") and callable(value)
        } | {id(function) for function in autowrap_functions}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}
        self.tensor_attrs: dict[Any, str] = {}
        self.root: Any = None

    def get_fresh_qualname(self, prefix: str) -> str:
        """Return a name for an attribute that the module does not have."""
        count = 0
        while hasattr(self.root, f"{prefix}{count}"):
            count += 1
        return f"{prefix}{count}"

    def create_arg(self, a: Any) -> Any:
        """Return a value as nodes have it: tensors and modules by a node that reads the attribute."""
        place = self._place_of(a)
        if place is not None:
            return self.create_node("get_attr", place, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(map(self.create_arg, a)), {})
        if isinstance(a, (Tensor, pytree.TreeSpec)):
            name = self.tensor_attrs.get(a)
            if name is None:
                kind = "_tensor_constant" if isinstance(a, Tensor) else "_tree_spec_constant"
                self.tensor_attrs[a] = name = self.get_fresh_qualname(kind)
                setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def _place_of(self, a: Any) -> str | None:
        """Return where in the module a parameter, a buffer or a module stands, if it is one of these."""
        if isinstance(a, Parameter):
            for name, parameter in self.root.named_parameters():
                if a is parameter:
                    return name  # type: ignore[no-any-return]
            raise NameError("parameter is not a member of this module")
        if isinstance(a, Tensor):
            return next((name for name, buffer in self.root.named_buffers() if a is buffer), None)
        if isinstance(a, Module):
            return next((name for name, module in self.root.named_modules() if a is module), None)
        return None

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Tell whether a call of a module is recorded as it is: of those that the package has."""
        from ..nn.modules.containers import Sequential

        package, _, room = type(m).__module__.partition(".")
        own = package in ("torch", __package__.partition(".")[0])
        return own and (room == "nn" or room.startswith(("nn.", "ao.nn"))) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """Return where a module stands in the one that is traced."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
        else:
            path = next((name for name, module in self.root.named_modules() if mod is module), None)
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(
        self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Record the call of a module, or what happens in it."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            calls = self.num_calls.get(path, 0)
            key = f"{path}@{calls}" if calls else path
            self.module_stack[key] = path, type(m)
            self.num_calls[path] = calls + 1
            if self.is_leaf_module(m, path):
                result = self.create_proxy("call_module", path, args, kwargs)
            else:
                result = forward(*args, **kwargs)
            self.module_stack.popitem()
        return result

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """Return an attribute of a module; of a parameter, what stands for it."""
        found: Iterable[tuple[str, Any]] = ()
        if isinstance(attr_val, Parameter):
            found = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            found = self.root.named_buffers()
        for name, value in found:
            if value is attr_val:
                if name not in parameter_proxy_cache:
                    make = None
                    if self.param_shapes_constant and isinstance(attr_val, Parameter):
                        make = functools.partial(self._parameter_proxy, name, attr_val)
                    parameter_proxy_cache[name] = (
                        self.create_proxy("get_attr", name, (), {})
                        if make is None
                        else self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=make)
                    )
                return parameter_proxy_cache[name]
        return attr_val

    def _parameter_proxy(self, name: str, parameter: Tensor, node: Any) -> ParameterProxy:
        return ParameterProxy(self, node, name, parameter)

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Add the inputs of a function, and return it with what stands for them."""
        plain: Any = inspect.unwrap(root_fn)
        code = plain.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        names = iter(code.co_varnames)
        args: list[Any] = []
        if is_module:
            if not count:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            next(names)
            args.append(self.root)
        signature = inspect.signature(plain)
        if isinstance(concrete_args, tuple):
            wanted = list(code.co_varnames[len(args) : count])
            if len(concrete_args) != len(wanted):
                raise RuntimeError(
                    f"Tracing expected {len(wanted)} arguments but got {len(concrete_args)} concrete "
                    f"arguments"
                )
            concrete_args = dict(zip(wanted, concrete_args, strict=True))

        def standing_for(name: str) -> Any:
            return self._proxy_placeholder(name, concrete_args, signature, plain)

        own = [next(names) for _ in range(len(args), count)]
        args += map(standing_for, own)
        starred = code.co_kwonlyargcount > 0
        for flag, mark in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
            if code.co_flags & flag:
                args.append(standing_for(mark + next(names)))
                starred = True
        if starred:
            # Arguments that are starred, or given by name, become arguments by position.
            root_fn = _with_code(plain, len(args))
        if concrete_args is not None:
            _, spec = pytree.tree_flatten(tuple(args))
            if any(not child.is_leaf() for child in spec.children_specs):
                return self._flattened(root_fn, args[:1] if is_module else [], args, own)
        return root_fn, args

    def _flattened(
        self, root_fn: Callable[..., Any], itself: list[Any], args: list[Any], names: list[str]
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Return a function of the leaves of nested arguments, whose graph nests them again."""
        inputs = args[len(itself) :]
        leaves, spec = pytree.tree_flatten(tuple(inputs))
        info = _PyTreeInfo([*(["self"] if itself else []), *names], spec, None)
        self.graph._codegen = codegen = _PyTreeCodeGen(info)

        def flat(*given):  # type: ignore[no-untyped-def]
            nested = pytree.tree_unflatten(list(given), spec)
            out, out_spec = pytree.tree_flatten(root_fn(*itself, *nested))
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return out

        return flat, leaves

    def _proxy_placeholder(
        self, name: str, concrete_args: Any, signature: inspect.Signature, function: Any
    ) -> Any:
        if concrete_args is not None and name in concrete_args:
            return self._specialised(name, concrete_args[name], signature)
        parameter = None if name.startswith("*") else signature.parameters[name]
        known = parameter is not None and parameter.default is not parameter.empty
        default = (parameter.default,) if parameter is not None and known else ()
        kind = _annotations(function).get(name)
        return self.create_proxy("placeholder", name, default, {}, type_expr=kind)

    def _specialised(self, name: str, value: Any, signature: inspect.Signature) -> Any:
        """Add inputs for the parts of an argument that are not known, and checks of those that are."""
        parameter = signature.parameters[name]
        default = () if parameter.default is parameter.empty else (parameter.default,)
        count = 0

        def part(one: Any) -> Any:
            nonlocal count
            count += 1
            out = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(one, PHBase):
                if one is not PH:
                    vars(out.node).update(vars(one))
                return out
            text = f"{name} has been specialized to have value {one} but got another value"
            if one is None:
                self.create_proxy("call_function", _assert_is_none, (out, text), {})
            elif isinstance(one, base_types) and not isinstance(one, Tensor):
                self.create_proxy("call_function", _assert, (out == one, text), {})  # type: ignore[comparison-overlap]
            else:
                warnings.warn(
                    f"Was not able to add assertion to guarantee correct input {name} to specialized "
                    f"function. "
                    "It is up to the user to make sure that your inputs match the inputs you specialized the "
                    "function with.",
                    stacklevel=4,
                )
            return one

        return pytree.tree_map(part, value)

    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        """Return the graph of what a function or a module does."""
        global _tracing
        is_module = isinstance(root, Module)
        if is_module:
            self.root = root
            function = getattr(type(root), self.traced_func_name)
            self.root_module_name = type(root).__name__
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root = Module()
            function = root
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = dict(_tensors_of(self.root, ""))
        if not isinstance(function, types.FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(function)}")
        before, _tracing = _tracing, True
        try:
            self._record(function, is_module, concrete_args)
        finally:
            _tracing = before
            self.submodule_paths = None
        return self.graph

    def _record(self, function: types.FunctionType, is_module: bool, concrete_args: Any) -> None:
        known = function.__globals__
        call, args = self.create_args_for_root(function, is_module, concrete_args)
        cache: dict[str, Proxy] = {}
        plain_getattr: Any = Module.__getattr__
        plain_call: Any = Module.__call__

        def read(module: Module, name: str) -> Any:
            return self.getattr(name, plain_getattr(module, name), cache)

        def called(module: Module, *args: Any, **kwargs: Any) -> Any:
            forward = getattr(module, "forward", module)
            patcher.functions_among(getattr(forward, "__globals__", {}), self._autowrap_function_ids)
            return self.call_module(module, functools.partial(plain_call, module), args, kwargs)

        with patching() as patcher:
            patcher.method(Module, "__getattr__", read)
            patcher.method(Module, "__call__", called)
            patcher.wrapped()
            patcher.functions_among(known, self._autowrap_function_ids)
            for module in self._autowrap_search:
                patcher.functions_among(vars(module), self._autowrap_function_ids)
            returned = _annotations(call).get("return")
            result = self.create_arg(call(*args))
            self.create_node("output", "output", (result,), {}, type_expr=returned)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        from copy import copy, deepcopy

        copied = Tracer.__new__(type(self))
        for name, value in vars(self).items():
            vars(copied)[name] = copy(value) if name == "_autowrap_search" else deepcopy(value, memo)
        return copied


def _tensors_of(module: Module, prefix: str) -> Iterable[tuple[Any, str]]:
    """Return tensors that are plain attributes of a module or of those inside, and where they stand."""
    for name, inner in module.named_modules():
        path = f"{prefix}{name}." if name else prefix
        for key, value in vars(inner).items():
            if isinstance(value, Tensor):
                yield value, f"{path}{key}"


def symbolic_trace(root: Any, concrete_args: Any = None) -> GraphModule:
    """Return a module with the graph of what a function or a module does.

    >>> import rushlight as torch
    >>> traced = torch.fx.symbolic_trace(lambda x, y: torch.relu(x) + y)
    >>> print(traced.code.strip())
    def forward(self, x, y):
        relu = torch.relu(x);  x = None
        add = relu + y;  relu = y = None
        return add
    >>> traced(torch.tensor([-1.0]), 2)
    tensor([2.])
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
