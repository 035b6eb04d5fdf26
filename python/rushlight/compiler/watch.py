"""Which code runs when a function is called, and whether any of it does more than compute."""

from __future__ import annotations

import functools
import gc
import os
import sysconfig
import types
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from .._rushlight import _Watching
from ..optim import LBFGS, Optimizer
from ..optim.lr_scheduler import ChainedScheduler, CosineAnnealingWarmRestarts, LRScheduler, SequentialLR
from ..optim.parameterwise import Parameterwise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep
PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)

_AGAIN, _KNOWN, _OWN, _ALL = range(4)
"""What is said of what was seen: it is shown again, is known, or with all that it calls; all is shown."""

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


def is_own(code: types.CodeType) -> bool:
    """Tell whether code is rushlight's."""
    return code.co_filename.startswith(OWN)


def is_library(code: types.CodeType) -> bool:
    """Tell whether code comes with Python."""
    name = code.co_filename
    return (name.startswith(LIBRARY) and not any(part in name for part in PACKAGES)) or name.startswith(
        "<frozen"
    )


class Watch:
    """Takes note of the code that runs on this thread, and of calls that do more than compute."""

    def __init__(self, enters: Callable[[types.FrameType], None] | None = None) -> None:
        self._enters = enters
        self.codes: dict[types.CodeType, dict[str, Any]] = {}
        self.unclear: str | None = None
        self.unclear_at: set[frozenset[tuple[types.CodeType, int]]] = set()
        self.after: list[types.MethodType] = []
        self._stepping: types.FrameType | None = None
        self._imports = 0
        self._collects = False

    def __enter__(self) -> Watch:
        # What the collector would run is somebody else's: it waits.
        self._collects = gc.isenabled()
        gc.disable()
        _Watching(self._see).begin()
        return self

    def __exit__(self, *_: object) -> None:
        _Watching.end()
        if self._collects:
            gc.enable()

    def _see(self, frame: types.FrameType, event: str, arg: Any) -> int:
        """Judge what runs; say what is to be shown from now on."""
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
            return self._enter(frame)
        elif event == "c_call":
            if _is_pure(arg):
                return _KNOWN
            if not _is_trusted(frame):
                name = getattr(arg, "__qualname__", repr(arg))
                place = f"{os.path.basename(code.co_filename)}:{frame.f_lineno}"
                self.unclear = self.unclear or f"{name}() is called at {place}"
                self.unclear_at.add(frozenset(_lines(frame)))
        return _ALL if self._imports or self._stepping is not None else _AGAIN

    def _enter(self, frame: types.FrameType) -> int:
        """Take note of code that begins to run."""
        code = frame.f_code
        if code in counting():
            self._count(frame)
            return _AGAIN if self._stepping is None else _ALL
        if is_own(code):
            return _OWN
        if self._enters is not None:
            self._enters(frame)
        if not _is_trusted(frame):
            self.codes[code] = frame.f_globals
        # Python's own code is whose who has called it.
        return _AGAIN if is_library(code) or self._enters is not None else _KNOWN

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
        is_own = "step" not in vars(stepping) and code_of_step(stepping) is frame.f_code
        if not (is_own and frame.f_locals["epoch"] is None) and self.unclear is None:
            self.unclear = "a schedule steps in another way"


@functools.cache
def counting() -> frozenset[types.CodeType]:
    """Return the code of steps: of optimisers, and of schedules, which only count and set rates."""
    kinds = (LRScheduler, SequentialLR, ChainedScheduler, CosineAnnealingWarmRestarts)
    return frozenset(kind.step.__code__ for kind in (*kinds, Parameterwise, LBFGS))


def code_of_step(schedule: LRScheduler) -> Any:
    return getattr(type(schedule).step, "__code__", None)


def _lines(frame: types.FrameType | None) -> Iterator[tuple[types.CodeType, int]]:
    """Yield where a frame is, and those that have called it."""
    while frame is not None:
        yield frame.f_code, frame.f_lineno
        frame = frame.f_back


def _is_trusted(frame: types.FrameType | None) -> bool:
    """Tell whether code is rushlight's, or Python's own that rushlight has called."""
    while frame is not None and is_library(frame.f_code):
        frame = frame.f_back
    return frame is not None and is_own(frame.f_code)


def _is_pure(function: Any) -> bool:
    """Tell whether a compiled function does nothing but compute, or is seen by the engine."""
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
