"""Operators as torch's dispatcher names them: `torch.ops.aten.mm.default` and its like.

A handle says which operator is meant: policies and logs compare it. Calling one calls the function that
computes it. What each takes and returns is said where it is computed, and read when the first is asked for.
"""

from __future__ import annotations

import os
import threading
from functools import cache, cached_property
from types import ModuleType

from . import _rushlight
from ._lazy import on_first_use
from ._operators.schemas import FunctionSchema
from ._rushlight import Tensor

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["OpOverload", "OpOverloadPacket", "ops"]

_DECLINING = _rushlight._disabled_torch_dispatch_impl

_running = threading.local()  # The calls of operators that interceptors are shown, innermost last.


def _stands_for_a_tensor(value: Any) -> bool:
    return not isinstance(value, Tensor) and hasattr(type(value), "__torch_function__")


class OpOverload:
    """One operator, such as `torch.ops.aten.add.Tensor`."""

    def __init__(self, packet: OpOverloadPacket, schema: FunctionSchema) -> None:
        self._packet, self._schema = packet, schema
        self._overloadname = schema.overload_name or "default"
        self.namespace = packet.namespace
        self.__name__ = f"{packet.__name__}.{self._overloadname}"
        self.__module__ = packet.__module__
        self.__qualname__ = self._name = f"{schema.name}.{schema.overload_name}".rstrip(".")

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """All operators of this name."""
        return self._packet

    _overloadpacket = overloadpacket

    @property
    def is_view(self) -> bool:
        """Whether it shows the memory of an argument and does not write to it."""
        return not self._schema.is_mutable and any(argument.alias_info for argument in self._schema.arguments)

    @property
    def tags(self) -> list[Any]:
        """What is said of it: whether it writes, whether it draws random numbers."""
        from ._compat._C._conventions import tags_of

        return tags_of(self)

    _defined_in_python = False

    def has_kernel_for_dispatch_key(self, key: Any) -> bool:
        """Tell whether it has a function for a key of torch's dispatcher."""
        from ._compat._C._registrations import _dispatch_has_kernel_for_dispatch_key

        return _dispatch_has_kernel_for_dispatch_key(self.name(), key)

    def name(self) -> str:
        """Return the name with its namespace."""
        return self._name

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Compute it. Of an interceptor that was shown this call, hand it on."""
        calls: list[Call] = getattr(_running, "calls", [])
        if calls and calls[-1].func is self:
            return calls[-1].go_on(args, kwargs)
        return self.compute(*args, **kwargs)

    def decompose(self, /, *args: Any, **kwargs: Any) -> Any:
        """Compute it, by the operators that it is made of."""
        return self.compute(*args, **kwargs)

    def compute(self, /, *args: Any, **kwargs: Any) -> Any:
        """Compute it. Calls are shown to nobody here but what stands for a tensor, operations are."""
        return _shown_or_computed(self, args, kwargs)

    def _computed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from ._operators.functions import function_of

        with _rushlight._DisableTorchFunctionSubclass():
            found = function_of(self)(*args, **kwargs)
        # Public functions return several tensors as a tuple, where operators have a list.
        return list(found) if type(found) is tuple and self._gives_list else found

    @cached_property
    def _gives_list(self) -> bool:
        return [one.kind for one in self._schema.returns] == ["Tensor[]"]

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._packet}', overload='{self._overloadname}')>"

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __deepcopy__(self, memo: object = None) -> OpOverload:
        return self


def _shown_or_computed(
    operator: OpOverload | OpOverloadPacket, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Compute an operator, or show it to arguments that stand for tensors, such as those of traced graphs."""
    standing = [one for one in (*args, *kwargs.values()) if _stands_for_a_tensor(one)]
    if standing:
        from .overrides import handle_torch_function

        return handle_torch_function(operator, standing, *args, **kwargs)
    return operator._computed(args, kwargs)


class OpOverloadPacket:
    """All operators of a name, such as `torch.ops.aten.add`."""

    def __init__(self, name: str, schemas: list[FunctionSchema], namespace: str = "aten") -> None:
        self.__name__ = name
        self.namespace = namespace
        self.__module__ = f"torch._ops.{namespace}"
        self._qualified_op_name = f"{namespace}::{name}"
        self._overloads = {overload._overloadname: overload for overload in map(self._overload, schemas)}

    def _overload(self, schema: FunctionSchema) -> OpOverload:
        return OpOverload(self, schema)

    def overloads(self) -> list[str]:
        """Name them."""
        return list(self._overloads)

    def __iter__(self) -> Iterator[str]:
        return iter(self._overloads)

    def __getattr__(self, name: str) -> OpOverload:
        known: dict[str, OpOverload] = self.__dict__.get("_overloads", {})
        found = known.get(name)
        if found is None and known and (name == "out" or name.endswith("_out")):
            found = self._writing(name)
        if found is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")
        return found

    def _writing(self, name: str) -> OpOverload | None:
        """Return the operator that writes what another returns to a tensor, which is not in the table."""
        of = name[: -len("_out")]
        base = self._overloads.get(of) if of else next(iter(self._overloads.values()))
        if base is None or len(base._schema.returns) != 1 or base._schema.returns[0].kind != "Tensor":
            return None
        taken = [argument.declaration() for argument in base._schema.arguments]
        if base._schema.is_mutable or not taken:
            return None
        at = sum(not argument.kwarg_only for argument in base._schema.arguments)
        listed = ", ".join([*taken[:at], "*", *taken[at:], "Tensor(a!) out"])
        schema = FunctionSchema(f"{self.__name__}.{name}({listed}) -> Tensor(a!)", self.namespace)
        made = self.__dict__[name] = self._overload(schema)
        return made

    @property
    def op(self) -> OpOverloadPacket:
        """What is called: the operators of this name."""
        return self

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Compute it."""
        return _shown_or_computed(self, args, kwargs)

    def _computed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.chosen(args, kwargs)._computed(args, kwargs)

    def chosen(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OpOverload:
        """Return which of them computes a call."""
        return next(iter(self._overloads.values()))

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __deepcopy__(self, memo: object = None) -> OpOverloadPacket:
        return self


class Call:
    """A call of an operator, as an interceptor is shown it, and how it goes on."""

    def __init__(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.func, self.args, self.kwargs = func, args, kwargs
        self._is_with_class = False

    def proceed(self) -> Any:
        """Hand it on to the next interceptor, or to classes, or compute it."""
        raise NotImplementedError

    def again(self, replaced: dict[int, Tensor]) -> Any:
        """Compute it with other tensors in the place of those with these identities, if it can be."""
        return NotImplemented

    def go_on(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute the operator. Called as it was, or with other tensors, this very call goes on."""
        replaced: dict[int, Tensor] = {}
        if _replace((self.args, self.kwargs), (args, kwargs), replaced):
            if not self._is_with_class and all(id(other) == own for own, other in replaced.items()):
                return self.proceed()
            if (answer := self.again(replaced)) is not NotImplemented:
                return answer
        return self.func.compute(*args, **kwargs)

    def subclassed(self) -> list[Tensor]:
        """Return the arguments whose classes are shown operations: one of each, derived classes first."""
        found: list[Tensor] = []
        if not _rushlight._is_dispatching_to_subclasses():
            return found
        for given in (*self.args, *self.kwargs.values()):
            for one in given if isinstance(given, (list, tuple)) else (given,):
                kind = type(one)
                if not isinstance(one, Tensor) or kind.__torch_dispatch__ is _DECLINING:
                    continue
                if all(type(other) is not kind for other in found):
                    above = (place for place, other in enumerate(found) if issubclass(kind, type(other)))
                    found.insert(next(above, len(found)), one)
        return found

    def show(self, mode: Any) -> Any:
        """Have `mode`, or where it declines or is none the classes of the arguments, answer in its place."""
        subclassed = self.subclassed()
        types = tuple(map(type, subclassed))
        calls = _running.__dict__.setdefault("calls", [])
        for one in [mode, *subclassed] if mode is not None else subclassed:
            before, self._is_with_class = self._is_with_class, one is not mode
            calls.append(self)
            try:
                answer = one.__torch_dispatch__(self.func, types, self.args, self.kwargs)
            finally:
                calls.pop()
                self._is_with_class = before
            if answer is not NotImplemented:
                return answer
        told = [f"  - mode object {mode}\n"] if mode is not None else []
        told += [f"  - tensor subclass {kind}\n" for kind in types]
        raise TypeError(
            f"Multiple dispatch failed for 'torch._ops.{self.func}'; all __torch_dispatch__ handlers "
            f"returned NotImplemented:\n\n{''.join(told)}\nFor more information, try re-running with "
            "TORCH_LOGS=not_implemented"
        )


def _replace(own: Any, given: Any, replaced: dict[int, Tensor]) -> bool:
    """Tell whether arguments differ in nothing but tensors, and note which has taken the place of which."""
    if isinstance(own, Tensor):
        return isinstance(given, Tensor) and replaced.setdefault(id(own), given) is given
    if isinstance(own, dict):
        same = isinstance(given, dict) and own.keys() == given.keys()
        return same and all(_replace(value, given[name], replaced) for name, value in own.items())
    if isinstance(own, (list, tuple)):
        same = isinstance(given, (list, tuple)) and len(own) == len(given)
        return same and all(_replace(*pair, replaced) for pair in zip(own, given, strict=True))
    return own is given or (type(own) is type(given) and bool(own == given))


def _lines(file: str) -> Iterator[str]:
    with open(os.path.join(os.path.dirname(__file__), "_operators", file), encoding="utf-8") as lines:
        yield from (line.rstrip() for line in lines if line[0] != "#")


def _others() -> Iterator[tuple[str, str]]:
    """Yield the operators that are in no table of the compiled module, and the nodes that they leave."""
    for line in _lines("operators.txt"):
        node, _, text = line.partition(" ")
        yield node, text
    for line in _lines("composites.txt"):
        yield "=", line


@cache
def table() -> tuple[dict[str, list[OpOverload]], dict[str, OpOverloadPacket]]:
    """Return the operators by node, and packets by name."""
    nodes: dict[str, list[str]] = {}
    schemas: dict[str, list[FunctionSchema]] = {}
    for node, text in [*_rushlight._operators(), *_others()]:
        for key, schema in ((node, FunctionSchema(text, "aten")), (f"{node}_", _in_place(text))):
            if schema is None or (node in "-=" and key != node):
                continue
            known = schemas.setdefault(schema.name[6:], [])
            if all(other.overload_name != schema.overload_name for other in known):
                known.append(schema)
            nodes.setdefault(key, []).append(schema._text)
    packets = {name: OpOverloadPacket(name, found) for name, found in schemas.items()}
    texts = {
        overload._schema._text: overload
        for packet in packets.values()
        for overload in packet._overloads.values()
    }
    return {node: [texts[text] for text in found if text in texts] for node, found in nodes.items()}, packets


@cache
def without_node() -> dict[str, list[OpOverload]]:
    """Return the operators that leave no node, by name."""
    found: dict[str, list[OpOverload]] = {}
    for func in table()[0]["-"]:
        found.setdefault(func._packet.__name__, []).append(func)
    return found


@cache
def operator_of(name: str, kinds: tuple[str, ...], outputs: int) -> OpOverload:
    """Return an operator that is in no table, which takes such arguments and gives so many tensors."""
    taken = ", ".join(
        f"{kind} {'other' * bool(place) or 'self'}{place or ''}" for place, kind in enumerate(kinds)
    )
    schema = FunctionSchema(f"{name}({taken}) -> ({', '.join(['Tensor'] * outputs)})", "aten")
    return OpOverloadPacket(name, [schema]).default


def _in_place(text: str) -> FunctionSchema | None:
    """What an operator is called that overwrites its first argument with what this one returns."""
    name, _dot, rest = text.partition("(")
    if not rest.startswith("Tensor self") or not text.endswith(" -> Tensor") or name.startswith("_"):
        return None
    base, point, overload = name.partition(".")
    rest = rest.removeprefix("Tensor self").removesuffix("Tensor")
    return FunctionSchema(f"{base}_{point}{overload}(Tensor(a!) self{rest}Tensor(a!)", "aten")


class _OpNamespace:
    """The operators of a library: of torch itself those in the table, of others what was added."""

    def __init__(self, namespace: str) -> None:
        self.__name__ = f"torch.ops.{namespace}"
        self._namespace = namespace

    def __getattr__(self, name: str) -> OpOverloadPacket:
        known = {} if name.startswith("__") or self._namespace != "aten" else table()[1]
        packet = known.get(name)
        if not name.startswith("__") and _stand_in(_NAMESPACES.get(self._namespace)):
            packet = self.__dict__.get(name)
        if packet is None:
            raise AttributeError(f"'_OpNamespace' '{self._namespace}' object has no attribute '{name}'")
        self.__dict__[name] = packet
        return packet

    def __repr__(self) -> str:
        return f"<module '{self.__name__}' from 'torch.ops'>"


# Libraries of operators that are compiled for torch, where those stand that are computed here instead, and
# the namespaces that are theirs.
_LIBRARIES = {
    "torchaudio/lib/_torchaudio": "._compat.audio",
    "torchaudio/lib/libtorchaudio": "._compat.audio",
    "torchvision/_C": "._compat.vision",
    "torchvision/_C_stable": "._compat.vision",
}
_NAMESPACES = {
    "profiler": "._compat.profiler_operators",
    "torchaudio": "._compat.audio",
    "torchvision": "._compat.vision",
}


def _stand_in(place: str | None) -> bool:
    """Load operators that stand in for those of a library, if there are some."""
    if place is not None:
        from importlib import import_module

        import_module(place, __package__)
    return place is not None


class _Ops(ModuleType):
    """The namespaces of operators."""

    def __init__(self) -> None:
        super().__init__("torch.ops")
        self.aten = _OpNamespace("aten")

    def __getattr__(self, name: str) -> _OpNamespace:
        if name.startswith("__"):
            raise AttributeError(f"'_Ops' object has no attribute '{name}'")
        self.__dict__[name] = namespace = _OpNamespace(name)
        return namespace

    def load_library(self, path: Any) -> None:
        """Load what stands in for a library of operators; others are made for torch itself."""
        folder, file = os.path.split(os.path.realpath(path))
        library = f"{folder}/{file.partition('.')[0]}".replace(os.sep, "/")
        if not _stand_in(next((place for end, place in _LIBRARIES.items() if library.endswith(end)), None)):
            raise OSError(f"Could not load this library: {os.path.realpath(path)}")

    def __repr__(self) -> str:
        return "<module 'torch.ops' from '_ops.py'>"


ops = _Ops()


__getattr__, __dir__ = on_first_use(
    globals(), places={"._compat._higher_order_ops.operators": "HigherOrderOperator"}
)
