"""Modes that are shown every operation of a thread before it runs, beneath autograd, and what classes of
tensors use that are shown those of their instances.
"""

from __future__ import annotations

from contextlib import contextmanager

from .. import _rushlight
from .._compat._C._stacks import (
    _pop_torch_dispatch_stack,
    _push_on_torch_dispatch_stack,
)
from .._rushlight import Tensor

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from typing_extensions import Self

__all__ = [
    "BaseTorchDispatchMode",
    "TorchDispatchMode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
    "transform_subclass",
]


class TorchDispatchMode:
    """In the block, `__torch_dispatch__` answers in the place of every operation.

    It is given the operator, the classes among those of the arguments that are shown operations too, and the
    arguments. Calling the operator with them goes on to the
    next mode around, and in the end computes it.

    >>> import rushlight as torch
    >>> from rushlight.utils._python_dispatch import TorchDispatchMode
    >>> class Log(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> with Log():
    ...     y = torch.ones(2).exp() * 2
    aten.ones.default
    aten.exp.default
    aten.mul.Tensor
    """

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Answer in the place of an operator."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Have operations shown from now on."""
        _rushlight._push_interceptor(self)
        return self

    def __exit__(self, *exception: object) -> None:
        """End it."""
        _rushlight._pop_interceptor()

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Tell whether the mode is part of torch itself."""
        return False

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Tell whether the mode looks past what was compiled; nothing is."""
        return False


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """Return the innermost mode of this thread."""
    modes = _rushlight._interceptors()
    return modes[-1] if modes else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """Return the modes of this thread, the innermost last."""
    return list(_rushlight._interceptors())


def _push_mode(mode: TorchDispatchMode) -> None:
    """Have a mode shown every operation from now on."""
    _push_on_torch_dispatch_stack(mode)


def _pop_mode(k: None = None) -> TorchDispatchMode:
    """End the innermost mode and return it."""
    mode: TorchDispatchMode = _pop_torch_dispatch_stack(k)
    return mode


@contextmanager
def _pop_mode_temporarily(k: None = None) -> Generator[TorchDispatchMode]:
    """In the block, which gets it, the innermost mode is shown nothing."""
    mode = _pop_mode(k)
    try:
        yield mode
    finally:
        _push_mode(mode)


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Tell whether this thread is in a mode; those that are part of torch itself may not count."""
    return any(include_infra_modes or not mode.is_infra_mode() for mode in _rushlight._interceptors())


def any_torch_dispatch_mode_on_stack() -> bool:
    """Tell whether this thread is in a mode."""
    return is_in_torch_dispatch_mode()


@contextmanager
def _disable_current_modes() -> Generator[list[TorchDispatchMode]]:
    """In the block, no mode is shown anything."""
    modes = _rushlight._interceptors()
    for _ in modes:
        _rushlight._pop_interceptor()
    try:
        yield modes
    finally:
        for mode in modes:
            _rushlight._push_interceptor(mode)


class BaseTorchDispatchMode(TorchDispatchMode):
    """The mode that changes nothing."""

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Go on."""
        return func(*args, **(kwargs or {}))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Tell whether instances of a class can be taken apart into tensors, and put together from them."""
    methods = ("__tensor_flatten__", "__tensor_unflatten__")
    return t is not Tensor and issubclass(t, Tensor) and all(hasattr(t, method) for method in methods)


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Tell whether a tensor can be taken apart into tensors, and put together from them.

    Its class has `__tensor_flatten__`, which returns the names of attributes and anything else that is
    needed, and `__tensor_unflatten__`, a static method that is given the tensors, that, sizes and strides.
    """
    return isinstance(t, Tensor) and is_traceable_wrapper_subclass_type(type(t))


def transform_subclass(
    t: Any,
    callback: Callable[[str, Tensor], Tensor],
    outer_size: Any = None,
    outer_stride: Any = None,
) -> Any:
    """Return a tensor put together from what `callback` makes of the tensors that `t` is taken apart into."""
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    parts = {name: callback(name, getattr(t, name)) for name in names}
    made = type(t).__tensor_unflatten__(parts, context, size, stride)
    for name, wanted, got in (("shape", size, made.shape), ("stride", stride, made.stride())):
        if tuple(got) != tuple(wanted):
            raise AssertionError(
                f"Expected return value from {type(t)}__tensor_unflatten__() to have {name} equal to "
                f"{wanted}, but got: {got}"
            )
    return made


def return_and_correct_aliasing(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, out: Any
) -> Any:
    """Return what an operator is to return that was computed on the insides of tensors.

    Where the operator writes to an argument and returns it, that is the argument itself. What it shows the
    memory of is known to do so as soon as it is returned.
    """
    schema = func._schema
    names = [argument.name for argument in schema.arguments]
    given = {**dict(zip(names, args, strict=False)), **(kwargs or {})}
    written = {
        argument.alias_info.names: given.get(argument.name)
        for argument in schema.arguments
        if argument.alias_info is not None and argument.alias_info.is_write
    }

    def returned(place: int, value: Any) -> Any:
        alias = schema.returns[place].alias_info if place < len(schema.returns) else None
        if alias is None or not alias.is_write:
            return value
        return written.get(alias.names, value)

    if len(schema.returns) == 1:
        return returned(0, out)
    if not isinstance(out, (list, tuple)):
        return out
    return type(out)(returned(place, value) for place, value in enumerate(out))
