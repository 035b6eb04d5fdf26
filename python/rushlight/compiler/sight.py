"""What a function sees: everything that it may do something else for, as checks that it is as it was.

`look` goes through what the code names that runs when it is called (`watch`), and through what that holds.
"""

from __future__ import annotations

import dis
import enum
import functools
import sys
import types
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from .._rushlight import Size, Tensor, device, dtype
from ..nn.modules._every import EVERY
from ..optim import Optimizer
from ..optim.lr_scheduler import LRScheduler
from .watch import LIBRARY, OWN, PACKAGES, code_of_step, counting, is_library, is_own

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBERS = (int, float, complex, str, bytes, type(None), type(...), range, slice, type(NotImplemented))
_MOST_OBJECTS = 20_000


class Unclear(Exception):
    """Why it cannot be said whether a function would do the same again."""


_REACHING = frozenset(
    """
    param_groups state_dict load_state_dict getattr setattr vars __dict__ get_last_lr get_lr lr momentum betas
    last_epoch _step_count _last_lr T_cur T_i
    """.split()  # noqa: SIM905
)
"""Names of code that may look at the numbers of an optimiser or of a schedule by itself."""
_SCHEDULED = ("lr", "momentum", "betas")
_COUNTS = ("last_epoch", "_step_count", "_last_lr", "T_cur", "T_i")
"""What steps of schedules change: of groups of parameters, and of themselves."""


@functools.lru_cache(maxsize=4096)
def _reaches(code: types.CodeType) -> bool:
    """Tell whether code may look at the numbers of an optimiser by itself."""
    constants = code.co_consts
    inner = (constant for constant in constants if isinstance(constant, types.CodeType))
    return not _REACHING.isdisjoint((*code.co_names, *(c for c in constants if isinstance(c, str)))) or any(
        map(_reaches, inner)
    )


@functools.lru_cache(maxsize=4096)
def names_of(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the globals that code names, with the code inside of it, and its attributes."""
    found: tuple[set[str], set[str]] = (set(), set())
    for instruction in dis.get_instructions(code):
        name, operation = instruction.argval, instruction.opname
        if operation in ("IMPORT_NAME", "IMPORT_FROM"):
            raise Unclear(f"{code.co_name} imports {name}")
        if operation in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"):
            found[0].add(name)
        elif (isinstance(name, str) and "ATTR" in operation) or operation == "LOAD_METHOD":
            found[1].add(name)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            for own, inner in zip(found, names_of(constant), strict=True):
                own |= inner
    return frozenset(found[0]), frozenset(found[1])


class Sight:
    """Goes through objects: collects checks, and the tensors that there are."""

    def __init__(
        self,
        codes: dict[types.CodeType, dict[str, Any]],
        apart: dict[int, set[str]] | None = None,
        replaced: frozenset[types.CodeType] = frozenset(),
    ) -> None:
        self.codes = codes
        self._named = replaced | codes.keys()
        self._apart = apart or {}
        self.attributes: set[str] = set()
        self.checks: list[tuple[Any, ...]] = []
        self.tensors: list[Tensor] = []
        self.counting: list[tuple[dict[str, Any], tuple[str, ...]]] = []
        self.seen: dict[int, Any] = {}
        self._waiting: deque[tuple[Any, str]] = deque()
        self._has_slots: dict[type, bool] = {}

    def look(self, roots: Iterator[tuple[Any, str]]) -> None:
        """Go through what code names, then through the roots and all that they hold."""
        for code, scope in self.codes.items():
            if not is_library(code):
                self._code(code, scope)
        self._waiting.extend(roots)
        self.checks.append(("dict", EVERY.__dict__))
        self._each(EVERY.__dict__.values(), "a hook of every module")
        while self._waiting:
            value, path = self._waiting.popleft()
            if id(value) in self.seen or isinstance(value, _NUMBERS):
                continue
            self.seen[id(value)] = value
            if len(self.seen) > _MOST_OBJECTS:
                raise Unclear("it sees too many objects")
            self._visit(value, path)

    def free_rates(self) -> None:
        """Let the rates of optimisers be others in every call, where only their own steps look at them.

        The same goes for how far schedules have come.
        """
        if any(map(_reaches, self.codes)):
            return
        free: dict[int, tuple[str, tuple[str, ...]]] = {}
        for found in self.seen.values():
            if isinstance(found, LRScheduler) and code_of_step(found) in counting():
                free[id(found.__dict__)] = "free", _COUNTS
            elif isinstance(found, Optimizer) and type(found).__module__.startswith("rushlight."):
                groups = (group for group in found.param_groups if type(group.get("lr")) is float)
                free.update((id(group), ("group", _SCHEDULED)) for group in groups)
        for place, check in enumerate(self.checks):
            if check[0] == "dict" and id(check[1]) in free:
                kind, names = free[id(check[1])]
                self.checks[place] = (kind, check[1], *names)
                self.counting.append((check[1], names))

    def _each(self, values: Any, path: str) -> None:
        self._waiting.extend((value, path) for value in values)

    def _code(self, code: types.CodeType, scope: dict[str, Any]) -> None:
        names, attributes = names_of(code)
        self.attributes |= attributes
        for name in names:
            if name in scope:
                self.checks.append(("entry", scope, name, scope[name]))
                self._waiting.append((scope[name], name))
            else:
                self.checks.append(("entry", scope, name))

    def _visit(self, value: Any, path: str) -> None:
        if isinstance(value, Tensor):
            self._tensor(value)
        elif hasattr(type(value), "_torchdynamo_inner"):
            self._waiting.append((value._torchdynamo_orig_callable, path))
        elif isinstance(value, types.FunctionType):
            self._function(value, path)
        elif isinstance(value, types.MethodType):
            self._each((value.__self__, value.__func__), path)
        elif isinstance(value, types.ModuleType):
            self._module(value, path)
        elif isinstance(value, type):
            self._class(value, path)
        elif isinstance(value, functools.partial):
            self._each((value.func, value.args, value.keywords), path)
        elif isinstance(value, dict):
            self.checks.append(("dict", value))
            self._each(value.keys(), path)
            self._each(value.values(), path)
            self._own(value, path)
        elif isinstance(value, list):
            self.checks.append(("list", value))
            self._each(value, path)
        elif isinstance(value, (tuple, frozenset)):
            self._each(value, path)
        elif isinstance(value, set):
            self.checks.append(("equal", value, set(value)))
            self._each(value, path)
        elif not self._is_plain(value):
            self._own(value, path, needed=True)

    def _is_plain(self, value: Any) -> bool:
        """Tell whether an object never changes."""
        if isinstance(
            value, (dtype, device, Size, enum.Enum, weakref.ref, property, staticmethod, classmethod)
        ):
            return True
        if isinstance(
            value,
            (
                types.BuiltinFunctionType,
                types.WrapperDescriptorType,
                types.MethodWrapperType,
                types.MethodDescriptorType,
                types.ClassMethodDescriptorType,
                types.GetSetDescriptorType,
                types.MemberDescriptorType,
            ),
        ):
            return True
        kind = type(value)
        plain = kind.__module__.startswith("rushlight") and kind.__name__ in (
            "memory_format",
            "layout",
            "Function",
            "no_grad",
            "enable_grad",
            "inference_mode",
        )
        return plain or (callable(value) and kind.__module__.startswith("rushlight._rushlight"))

    def _tensor(self, value: Tensor) -> None:
        if value.is_leaf:
            self.tensors.append(value)
        extra = getattr(value, "__dict__", None)
        if extra:
            self.checks.append(("dict", extra))
            self._each(extra.values(), "a tensor's attribute")

    def _function(self, value: types.FunctionType, path: str) -> None:
        code = value.__code__
        self.checks.append(("attribute", value, "__code__", code))
        for name in ("__defaults__", "__kwdefaults__"):
            own = getattr(value, name)
            self.checks.append(("attribute", value, name, own))
            self._waiting.append((own, path))
        for name, cell in zip(code.co_freevars, value.__closure__ or (), strict=True):
            try:
                content = cell.cell_contents
            except ValueError:
                self.checks.append(("attribute", cell, "cell_contents"))
                continue
            self.checks.append(("attribute", cell, "cell_contents", content))
            self._waiting.append((content, name))
        if not (is_own(code) or is_library(code)) and code not in self._named:
            self._code(code, value.__globals__)

    def _module(self, value: types.ModuleType, path: str) -> None:
        scope, name = vars(value), value.__name__
        file = getattr(value, "__file__", None) or ""
        if name.startswith("rushlight._rushlight") or not file:
            return
        foreign = file.startswith((OWN, LIBRARY)) or any(part in file for part in PACKAGES)
        for attribute in self.attributes & scope.keys():
            found = scope[attribute]
            self.checks.append(("entry", scope, attribute, found))
            is_room = isinstance(found, types.ModuleType) and not file.startswith(LIBRARY)
            is_patch = isinstance(found, types.FunctionType) and not is_own(found.__code__)
            if not foreign or is_room or is_patch:
                self._waiting.append((found, f"{path}.{attribute}"))

    def _class(self, value: type, path: str) -> None:
        for kind in value.__mro__:
            module = sys.modules.get(kind.__module__)
            file = getattr(module, "__file__", None) or ""
            # Classes of the compiled module lie in no file.
            is_own = kind.__module__.startswith("rushlight.")
            if is_own or kind.__module__ == "builtins" or file.startswith((OWN, LIBRARY)):
                continue
            for name, found in vars(kind).items():
                if isinstance(found, types.FunctionType):
                    self.checks.append(("attribute", kind, name, getattr(kind, name)))
                    if found.__code__ in self.codes:
                        self._waiting.append((found, f"{path}.{name}"))
                elif isinstance(found, staticmethod) and isinstance(found.__func__, types.FunctionType):
                    self.checks.append(("attribute", kind, name, found.__func__))
                    if found.__func__.__code__ in self.codes:
                        self._waiting.append((found.__func__, f"{path}.{name}"))
                elif name in self.attributes and not isinstance(found, (classmethod, staticmethod, property)):
                    self.checks.append(("attribute", kind, name, getattr(kind, name)))
                    self._waiting.append((found, f"{path}.{name}"))

    def _own(self, value: Any, path: str, needed: bool = False) -> None:
        """Go through the attributes of an object."""
        kind = type(value)
        own = getattr(value, "__dict__", None)
        if own is None:
            if needed:
                raise Unclear(
                    f"it sees {path}, of which {kind.__module__}.{kind.__qualname__} tells too little"
                )
            return
        if kind.__module__.startswith(("numpy", "pandas", "_io", "io", "threading", "random")):
            raise Unclear(f"it sees {path}, of which {kind.__module__}.{kind.__qualname__} tells too little")
        if kind not in self._has_slots:
            self._has_slots[kind] = any(vars(base).get("__slots__") for base in kind.__mro__)
        if self._has_slots[kind]:
            raise Unclear(f"it sees {path}, whose class has slots")
        self.checks.append(("attribute", value, "__class__", kind))
        apart = self._apart.get(id(own), ())
        self.checks.append(("free", own, *apart) if apart else ("dict", own))
        self._waiting.append((kind, path))
        self._each([value for name, value in own.items() if name not in apart], path)


def containers(value: Any) -> list[Any]:
    """Return the lists and dictionaries in a value, as often as they are there."""
    found: list[Any] = []
    waiting, seen = [value], set()
    while waiting:
        value = waiting.pop()
        if type(value) in (list, dict):
            found.append(value)
        if isinstance(value, (tuple, list, dict)) and id(value) not in seen:
            seen.add(id(value))
            waiting.extend(value.values() if isinstance(value, dict) else value)
    return found


def _values(argument: Any) -> Iterator[Any]:
    """Yield what is no tensor of an argument; lists and the like are looked at by themselves."""
    if isinstance(argument, tuple) or type(argument) is list:
        for item in argument:
            yield from _values(item)
    elif type(argument) is dict:
        for item in argument.values():
            yield from _values(item)
    elif not isinstance(argument, Tensor):
        yield argument


def look(
    call: tuple[Any, tuple[Any, ...], dict[str, Any]],
    codes: dict[types.CodeType, dict[str, Any]],
    apart: dict[int, set[str]] | None = None,
    replaced: frozenset[types.CodeType] = frozenset(),
) -> Sight:
    """Return what a call of a function sees: tensors, and checks that all is as it is now.

    Of some dictionaries of attributes it does not see those that `apart` names. Code that is `replaced` does
    not run.
    """
    function, args, kwargs = call
    sight = Sight(codes, apart, replaced)
    given = [(value, "an argument") for value in _values([args, kwargs])]
    sight.look(iter([(function, getattr(function, "__name__", "it")), *given]))
    sight.free_rates()
    sight.tensors = list({id(tensor): tensor for tensor in sight.tensors}.values())
    return sight
