"""What a function sees: everything that it may do something else for, as checks that it is as it was.

`Watch` finds out which code runs when a function is called, and whether any of it does what cannot be done
again by computing alone. `look` goes through what that code names, and through what that holds.
"""

from __future__ import annotations

import dis
import enum
import functools
import gc
import os
import sys
import sysconfig
import types
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from .._rushlight import Size, Tensor, device, dtype
from ..nn.modules._every import EVERY
from ..optim import LBFGS, Optimizer
from ..optim.lr_scheduler import ChainedScheduler, CosineAnnealingWarmRestarts, LRScheduler, SequentialLR
from ..optim.parameterwise import Parameterwise

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep
_PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)

_PURE_MODULES = """
    math cmath operator _operator itertools _functools _collections _abc _weakref _bisect _heapq _typing
    _struct _contextvars
""".split()  # noqa: SIM905
_IMPURE = "print input open exec eval compile __import__ breakpoint globals locals vars dir".split()  # noqa: SIM905
_PURE_OWNERS: tuple[type, ...] = (
    str, bytes, int, float, complex, list, tuple, dict, set, frozenset, range, slice, deque, type(None),
    types.MappingProxyType, types.GeneratorType, type({}.keys()), type({}.values()), type({}.items()),
    weakref.ref,
)  # fmt: skip
_NUMBERS = (int, float, complex, str, bytes, type(None), type(...), range, slice, type(NotImplemented))
_MOST_OBJECTS = 20_000


class Unclear(Exception):
    """Why it cannot be said whether a function would do the same again."""


def is_own(code: types.CodeType) -> bool:
    """Tell whether code is rushlight's."""
    return code.co_filename.startswith(_OWN)


def is_library(code: types.CodeType) -> bool:
    """Tell whether code comes with Python."""
    name = code.co_filename
    return (name.startswith(_LIBRARY) and not any(part in name for part in _PACKAGES)) or name.startswith(
        "<frozen"
    )


class Watch:
    """Takes note of the code that runs on this thread, and of calls that do more than compute."""

    def __init__(self) -> None:
        self.codes: dict[types.CodeType, dict[str, Any]] = {}
        self.unclear: str | None = None
        self.unclear_at: set[tuple[types.CodeType, int]] = set()
        self.after: list[types.MethodType] = []
        self._stepping: types.FrameType | None = None
        self._imports = 0
        self._collects = False

    def __enter__(self) -> Watch:
        # What the collector would run is somebody else's: it waits.
        self._collects = gc.isenabled()
        gc.disable()
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        if self._collects:
            gc.enable()

    def _see(self, frame: types.FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if code.co_name == "_find_and_load" and code.co_filename.startswith("<frozen"):
            # What is imported meanwhile is there the next time.
            self._imports += {"call": 1, "return": -1}.get(event, 0)
        elif self._imports:
            pass
        elif self._stepping is not None:
            # A schedule computes with numbers of its own, each time.
            if event == "return" and frame is self._stepping:
                self._stepping = None
        elif event == "call":
            if code in _counting():
                self._count(frame)
            elif not _is_trusted(frame):
                self.codes[code] = frame.f_globals
        elif event == "c_call" and not _is_pure(arg) and not _is_trusted(frame):
            name = getattr(arg, "__qualname__", repr(arg))
            place = f"{os.path.basename(code.co_filename)}:{frame.f_lineno}"
            self.unclear = self.unclear or f"{name}() is called at {place}"
            self.unclear_at.add((code, frame.f_lineno))

    def _count(self, frame: types.FrameType) -> None:
        """Take note of a schedule that steps, which is called each time, and of what steps after that."""
        stepping: Any = frame.f_locals["self"]
        schedules: list[Any] = [step.__self__ for step in self.after]
        if isinstance(stepping, Optimizer):
            if any(schedule.optimizer is stepping for schedule in schedules):
                self.unclear = self.unclear or "a rate changes before the step that it is the rate of"
            return
        self._stepping = frame
        self.after.append(stepping.step)
        is_own = "step" not in vars(stepping) and _code_of_step(stepping) is frame.f_code
        if not (is_own and frame.f_locals["epoch"] is None) and self.unclear is None:
            self.unclear = "a schedule steps in another way"


@functools.cache
def _counting() -> frozenset[types.CodeType]:
    """Return the code of steps: of optimisers, and of schedules, which only count and set rates."""
    kinds = (LRScheduler, SequentialLR, ChainedScheduler, CosineAnnealingWarmRestarts)
    return frozenset(kind.step.__code__ for kind in (*kinds, Parameterwise, LBFGS))


def _code_of_step(schedule: LRScheduler) -> Any:
    return getattr(type(schedule).step, "__code__", None)


def _is_trusted(frame: types.FrameType | None) -> bool:
    """Tell whether code is rushlight's, or Python's own that rushlight has called."""
    while frame is not None and is_library(frame.f_code):
        frame = frame.f_back
    return frame is not None and is_own(frame.f_code)


def _is_pure(function: Any) -> bool:
    """Tell whether a compiled function does nothing but compute, or is seen by the engine."""
    if function == sys.setprofile:
        return True
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or ""
    if owner is None or isinstance(owner, types.ModuleType):
        if module == "builtins":
            return function.__name__ not in _IMPURE
        return module in _PURE_MODULES or module.startswith("rushlight")
    if isinstance(owner, type):
        return owner in _PURE_OWNERS or _is_of_the_engine(owner, function)
    kind = type(owner)
    return isinstance(owner, _PURE_OWNERS) or _is_of_the_engine(kind, function) or hasattr(kind, "__next__")


def _is_of_the_engine(kind: type, function: Any) -> bool:
    """Tell whether a compiled function that a class has comes from a class of rushlight's."""
    return any(
        base.__module__.startswith("rushlight") and function.__name__ in vars(base) for base in kind.__mro__
    )


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
def _names(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
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
            for own, inner in zip(found, _names(constant), strict=True):
                own |= inner
    return frozenset(found[0]), frozenset(found[1])


class Sight:
    """Goes through objects: collects checks, and the tensors that there are."""

    def __init__(
        self, codes: dict[types.CodeType, dict[str, Any]], apart: dict[int, set[str]] | None = None
    ) -> None:
        self.codes = codes
        self._apart = apart or {}
        self.attributes: set[str] = set()
        self.checks: list[tuple[Any, ...]] = []
        self.tensors: list[Tensor] = []
        self.counting: list[tuple[dict[str, Any], tuple[str, ...]]] = []
        self.seen: dict[int, Any] = {}
        self._waiting: deque[tuple[Any, str]] = deque()

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
            if isinstance(found, LRScheduler) and _code_of_step(found) in _counting():
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
        names, attributes = _names(code)
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
        if not (is_own(code) or is_library(code)) and code not in self.codes:
            self._code(code, value.__globals__)

    def _module(self, value: types.ModuleType, path: str) -> None:
        scope, name = vars(value), value.__name__
        file = getattr(value, "__file__", None) or ""
        if name.startswith("rushlight._rushlight") or not file:
            return
        foreign = file.startswith((_OWN, _LIBRARY)) or any(part in file for part in _PACKAGES)
        for attribute in self.attributes & scope.keys():
            found = scope[attribute]
            self.checks.append(("entry", scope, attribute, found))
            is_room = isinstance(found, types.ModuleType) and not file.startswith(_LIBRARY)
            is_patch = isinstance(found, types.FunctionType) and not is_own(found.__code__)
            if not foreign or is_room or is_patch:
                self._waiting.append((found, f"{path}.{attribute}"))

    def _class(self, value: type, path: str) -> None:
        for kind in value.__mro__:
            module = sys.modules.get(kind.__module__)
            file = getattr(module, "__file__", None) or ""
            # Classes of the compiled module lie in no file.
            is_own = kind.__module__.startswith("rushlight.")
            if is_own or kind.__module__ == "builtins" or file.startswith((_OWN, _LIBRARY)):
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
        if any("__slots__" in vars(base) and vars(base)["__slots__"] for base in kind.__mro__):
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
) -> Sight:
    """Return what a call of a function sees: tensors, and checks that all is as it is now.

    Of some dictionaries of attributes it does not see those that `apart` names.
    """
    function, args, kwargs = call
    sight = Sight(codes, apart)
    given = [(value, "an argument") for value in _values([args, kwargs])]
    sight.look(iter([(function, getattr(function, "__name__", "it")), *given]))
    sight.free_rates()
    sight.tensors = list({id(tensor): tensor for tensor in sight.tensors}.values())
    return sight
