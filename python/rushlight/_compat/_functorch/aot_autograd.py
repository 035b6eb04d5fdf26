"""What compiles forward and backward ahead of time, for functions that run as they are written here."""

from __future__ import annotations

from functools import wraps
from typing import Any

from ..._devices.absent import refusing

__all__ = ["aot_function", "aot_module", "aot_module_simplified", "make_boxed_func", "nop"]

refusing(
    globals(),
    "default_partition draw_graph memory_efficient_fusion min_cut_rematerialization_partition",
    NotImplementedError,
    "functorch.compile: functions run as they are written, there is no graph of forward and backward",
)


def aot_function(fn: Any, fw_compiler: Any = None, bw_compiler: Any = None, *_: Any, **__: Any) -> Any:
    """Return the function, which autograd follows as it runs."""
    return fn


def aot_module(mod: Any, *_: Any, **__: Any) -> Any:
    """Return the module, which autograd follows as it runs."""
    return mod


def aot_module_simplified(mod: Any, args: Any, *_: Any, **__: Any) -> Any:
    """Return the call of the module, which autograd follows as it runs."""
    return mod.forward


compiled_function, compiled_module = aot_function, aot_module


def make_boxed_func(f: Any) -> Any:
    """Return a function that takes its arguments in one list."""

    @wraps(f)
    def boxed(args: Any) -> Any:
        return f(*args)

    boxed._boxed_call = True  # type: ignore[attr-defined]
    return boxed


def nop(f: Any, _: Any = None) -> Any:
    """Return a graph as it is: the compiler that does nothing."""
    return f
