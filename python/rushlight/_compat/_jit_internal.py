"""What functions tell a compiler of themselves: kept as attributes, and without effect on what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, List, Tuple, TypeVar, Union  # noqa: UP035 - others import them

from .._devices.absent import Switch
from ..futures import Future

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Final",
    "FunctionModifiers",
    "Future",
    "annotate",
    "boolean_dispatch",
    "export",
    "ignore",
    "is_scripting",
    "is_tracing",
    "unused",
]

_F = TypeVar("_F")


class FunctionModifiers:
    """What can be said of a function, in its attribute `_torchscript_modifier`."""

    UNUSED = "unused (ignored and replaced with raising of an exception)"
    IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
    EXPORT = "export (compile this function even if nothing calls it)"
    DEFAULT = "default (if called from a exported method / forward)"
    COPY_TO_SCRIPT_WRAPPER = "if this method is not scripted, copy the python method onto the scripted model"
    _DROP = "_drop (function is fully ignored, declaration can be unscriptable)"


def is_scripting() -> bool:
    """Tell whether this is run by a compiled script: never.

    >>> import rushlight as torch
    >>> torch.jit.is_scripting()
    False
    """
    return False


def is_tracing() -> bool:
    """Tell whether a trace is being recorded: never."""
    return False


def _marking(modifier: str) -> Callable[[_F], _F]:
    def mark(function: _F) -> _F:
        target: Any = function.fget if isinstance(function, property) else function
        target._torchscript_modifier = modifier
        return function

    return mark


def export(fn: _F) -> _F:
    """Say that a method is to be compiled though nothing calls it."""
    return _marking(FunctionModifiers.EXPORT)(fn)


def unused(fn: _F) -> _F:
    """Say that a compiled module does not call a method."""
    return _marking(FunctionModifiers.UNUSED)(fn)


def _drop(fn: _F) -> _F:
    return _marking(FunctionModifiers._DROP)(fn)


def _copy_to_script_wrapper(fn: _F) -> _F:
    return _marking(FunctionModifiers.COPY_TO_SCRIPT_WRAPPER)(fn)


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Say that a method stays Python. As a decorator, with or without arguments.

    >>> import rushlight as torch
    >>> @torch.jit.ignore
    ... def twice(x):
    ...     return 2 * x
    >>> twice(2)
    4
    """
    if callable(drop):
        return _marking(FunctionModifiers.IGNORE)(drop)
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    drop = kwargs.pop("drop_on_export", drop)
    return _marking(FunctionModifiers.UNUSED if drop else FunctionModifiers.IGNORE)


def is_ignored_fn(fn: Any) -> bool:
    """Tell whether a function stays Python."""
    return get_torchscript_modifier(fn) in (FunctionModifiers.UNUSED, FunctionModifiers.IGNORE)


def get_torchscript_modifier(fn: Any) -> str | None:
    """Return what was said of a function."""
    if not callable(fn):
        return None
    found: str = getattr(getattr(fn, "__func__", fn), "_torchscript_modifier", FunctionModifiers.DEFAULT)
    return found


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return a value, of which a type is said."""
    return the_value


def _overload(func: _F) -> _F:
    """Say that a function has several signatures, of which this is one."""
    return func


_overload_method = _overload


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable[..., Any],
    if_false: Callable[..., Any],
    module_name: str,
    func_name: str,
) -> Callable[..., Any]:
    """Return a function that calls one of two, by the argument of a name, or at a position."""

    def choose(*args: Any, **kwargs: Any) -> Any:
        given = args[arg_index] if arg_index < len(args) else default
        return (if_true if kwargs.get(arg_name, given) else if_false)(*args, **kwargs)

    choose.__doc__ = if_false.__doc__ or if_true.__doc__
    choose.__module__ = module_name or choose.__module__
    choose.__name__ = func_name or choose.__name__
    return choose


class _BroadcastingList:
    """A number, or a list of so many: `BroadcastingList2[int]`."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __getitem__(self, kind: Any) -> Any:
        return Union[kind, List[kind], Tuple[(kind,) * self.length]]  # noqa: UP006, UP007


BroadcastingList1 = _BroadcastingList(1)
BroadcastingList2 = _BroadcastingList(2)
BroadcastingList3 = _BroadcastingList(3)


class _disable_emit_hooks(Switch):
    """A block in which nobody is told of compiled functions, as nowhere."""
