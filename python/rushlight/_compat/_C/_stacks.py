"""The modes that see calls and operations, and blocks in which calls are not shown."""

from __future__ import annotations

from enum import Enum

from ... import _rushlight
from ..._rushlight import (
    _exchange_torch_function_state,
    _interceptors,
    _pop_interceptor,
    _pop_torch_function_mode,
    _push_interceptor,
    _push_torch_function_mode,
    _torch_function_modes,
)

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_EMPTY = "trying to pop from empty mode stack"


def _at(modes: list[Any], index: int) -> Any:
    if not 0 <= index < len(modes):
        raise RuntimeError("Tried to get stack at idx that's too big")
    return modes[index]


def _len_torch_function_stack() -> int:
    """Return how many modes that see calls this thread is in."""
    return len(_torch_function_modes())


def _get_function_stack_at(index: int) -> Any:
    """Return one of them, counted from the outermost."""
    return _at(_torch_function_modes(), index)


def _push_on_torch_function_stack(mode: Any) -> None:
    """Have a mode see calls from now on."""
    _push_torch_function_mode(mode)


def _pop_torch_function_stack() -> Any:
    """End the innermost of them and return it."""
    mode = _pop_torch_function_mode()
    if mode is None:
        raise RuntimeError(_EMPTY)
    return mode


def _len_torch_dispatch_stack() -> int:
    """Return how many modes that see operations this thread is in."""
    return len(_interceptors())


def _get_dispatch_stack_at(index: int) -> Any:
    """Return one of them, counted from the outermost."""
    return _at(list(_interceptors()), index)


def _push_on_torch_dispatch_stack(mode: Any) -> None:
    """Have a mode see operations from now on."""
    _push_interceptor(mode)


def _pop_torch_dispatch_stack(key: None) -> Any:
    """End the innermost of them and return it."""
    modes = _interceptors()
    if not modes:
        raise RuntimeError(_EMPTY)
    _pop_interceptor()
    return modes[-1]


class _TorchFunctionState(Enum):
    """To whom calls are shown."""

    ENABLED = 0
    SUBCLASSES_DISABLED = 1
    ALL_DISABLED = 2


def _get_torch_function_state() -> _TorchFunctionState:
    """Tell to whom this thread shows calls."""
    disabled, modes_hidden = _exchange_torch_function_state(0, False)
    _exchange_torch_function_state(disabled, modes_hidden)
    if modes_hidden:
        return _TorchFunctionState.ALL_DISABLED
    return _TorchFunctionState.SUBCLASSES_DISABLED if disabled else _TorchFunctionState.ENABLED


def _set_torch_function_state(state: _TorchFunctionState) -> None:
    """Say to whom this thread shows calls."""
    _exchange_torch_function_state(
        int(state is not _TorchFunctionState.ENABLED), state is _TorchFunctionState.ALL_DISABLED
    )


def _is_torch_function_enabled() -> bool:
    """Tell whether classes are shown calls."""
    return _get_torch_function_state() is _TorchFunctionState.ENABLED


def _is_torch_function_all_disabled() -> bool:
    """Tell whether nobody is shown calls."""
    return _get_torch_function_state() is _TorchFunctionState.ALL_DISABLED


def _is_torch_function_mode_enabled() -> bool:
    """Tell whether there is a mode that is shown calls."""
    return bool(_torch_function_modes()) and not _is_torch_function_all_disabled()


class _Block:
    """In the block, calls are shown to those whom `_state` says."""

    __slots__ = ("_before",)
    _state: _TorchFunctionState
    _before: tuple[int, bool]

    def __enter__(self) -> None:
        hidden = self._state is _TorchFunctionState.ALL_DISABLED
        self._before = _exchange_torch_function_state(int(hidden), hidden)

    def __exit__(self, *exception: object) -> None:
        _exchange_torch_function_state(*self._before)


class DisableTorchFunction(_Block):
    """In the block, neither classes nor modes are shown calls."""

    __slots__ = ()
    _state = _TorchFunctionState.ALL_DISABLED


class _EnableTorchFunction(_Block):
    """In the block, classes and modes are shown calls again."""

    __slots__ = ()
    _state = _TorchFunctionState.ENABLED


def _has_torch_function(arguments: Iterable[object]) -> bool:
    """Tell whether a call with these arguments would be shown to one of them or to a mode."""
    return _rushlight._has_torch_function(tuple(arguments))


def _has_torch_function_unary(argument: object) -> bool:
    """Tell whether a call with this argument would be shown to it, or to a mode."""
    return _rushlight._has_torch_function((argument,))


def _has_torch_function_variadic(*arguments: object) -> bool:
    """Tell whether a call with these arguments would be shown to one of them, or to a mode."""
    return _rushlight._has_torch_function(arguments)
