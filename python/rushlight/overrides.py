"""Objects that take part in functions of tensors: `__torch_function__`, and modes that see every call.

Every public function shows itself, once, before it does anything; what it calls in turn is not shown.

>>> import rushlight as torch
>>> class Length:
...     def __init__(self, meters):
...         self.meters = meters
...     @classmethod
...     def __torch_function__(cls, func, types, args=(), kwargs=None):
...         values = [arg.meters if isinstance(arg, Length) else arg for arg in args]
...         return Length(func(*values, **(kwargs or {})))
>>> torch.add(torch.tensor(1.0), Length(torch.tensor(2.0))).meters
tensor(3.)
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _rushlight
from ._calls.overridable import (
    all_names,
    get_ignored_functions,
    get_overridable_functions,
    get_testing_overrides,
)
from ._compat._C._stacks import (
    _pop_torch_function_stack,
    _push_on_torch_function_stack,
)
from ._rushlight import (
    Tensor,
    _disabled_torch_function_impl,
    _DisableTorchFunctionSubclass,
    _handle_torch_function,
    _has_torch_function,
    _pop_torch_function_mode,
    _push_torch_function_mode,
    _redispatch,
    _torch_function_modes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from typing_extensions import Self

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Tell whether any of the arguments wants to see calls.

    >>> import rushlight as torch
    >>> torch.overrides.has_torch_function((torch.ones(2), 3))
    False
    """
    try:
        arguments = tuple(relevant_args)
    except TypeError:
        raise TypeError("expected a sequence") from None
    return bool(arguments) and _has_torch_function(arguments)


def has_torch_function_unary(relevant_arg: Any) -> bool:
    """Tell whether the argument wants to see calls."""
    return _has_torch_function((relevant_arg,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """Tell whether any of the arguments wants to see calls."""
    return bool(relevant_args) and _has_torch_function(relevant_args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Show a call of `public_api` to those of `relevant_args` that want to see it; one must answer."""
    name = f"{public_api.__module__}.{public_api.__name__}"
    return _handle_torch_function(public_api, name, tuple(relevant_args), args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """Make a function show its calls to those of its arguments that `dispatcher` names."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        from functools import wraps

        @wraps(function)
        def shown(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if _has_torch_function(relevant):
                return handle_torch_function(shown, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return shown

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Tell whether `inp` is a tensor or takes part in functions of tensors.

    >>> import rushlight as torch
    >>> torch.overrides.is_tensor_like(torch.ones(2)), torch.overrides.is_tensor_like(3)
    (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Tell whether `func` is a method of tensors, or reads or writes an attribute of theirs."""
    return func in get_overridable_functions()[Tensor] or getattr(func, "__name__", None) == "__get__"


def resolve_name(f: Callable[..., Any]) -> str | None:
    """Return where a function is found, from the package on; `None` for one that nobody can override.

    >>> import rushlight as torch
    >>> torch.overrides.resolve_name(torch.Tensor.add)
    'torch.Tensor.add'
    """
    from ._ops import OpOverload, OpOverloadPacket

    if isinstance(f, (OpOverload, OpOverloadPacket)):
        return str(f)
    return all_names().get(f)


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """Let a handler of `__torch_dispatch__` record and run backward, which it may here anyway."""
    yield


def redispatch_function(
    func: Callable[..., Any], types: Sequence[type], args: Any, kwargs: dict[str, Any] | None
) -> Any:
    """Call `func` as it is, and show the calls that it makes in turn.

    >>> import rushlight as torch
    >>> class Seen(torch.Tensor):
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return torch.overrides.redispatch_function(func, types, args, kwargs)
    >>> torch.ones(2).as_subclass(Seen) + 1
    add
    tensor([2., 2.])
    """
    return _redispatch(func, tuple(args), kwargs)


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Return the functions whose results stay what they are in classes below `Tensor`."""
    attributes = (vars(_rushlight.TensorBase)[name] for name in ("_base", "grad", "_grad"))
    return {attribute.__get__ for attribute in attributes}


def default(
    cls: type, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Any = None
) -> Any:
    """Call `func`; what it makes of instances of `cls` becomes instances of `cls` as well.

    This is `Tensor.__torch_function__`, which classes below `Tensor` inherit.
    """
    if not all(issubclass(cls, other) for other in types):
        return NotImplemented
    with _DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    return result if _keeps_class(func) else _convert(result, cls)


def _keeps_class(func: Any) -> bool:
    """Tell whether what a function gives stays what it is: other tensors that this one knows."""
    if getattr(func, "__name__", "") != "__get__":
        return False
    return getattr(func.__self__, "__name__", "") in ("_base", "grad", "_grad")


def _convert(result: Any, cls: type) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        return type(result)(_convert(one, cls) for one in result)
    return result


class TorchFunctionMode:
    """Sees every function of tensors that its block calls. Derive from it and write `__torch_function__`.

    >>> import rushlight as torch
    >>> class Log(torch.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Log():
    ...     _ = torch.ones(2) + 1
    ones
    add
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        """Answer a call of `func`. Inside of it this mode sees nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        _push_torch_function_mode(self)
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        _pop_torch_function_mode()


class BaseTorchFunctionMode(TorchFunctionMode):
    """The mode that changes nothing."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> Any:
    """Return the innermost mode of this thread, if there is one."""
    modes = _torch_function_modes()
    return modes[-1] if modes else None


def _get_current_function_mode_stack() -> list[Any]:
    """Return the modes of this thread, the innermost last."""
    return _torch_function_modes()


def _push_mode(mode: Any) -> None:
    """Have a mode see every call from now on."""
    _push_on_torch_function_stack(mode)


def _pop_mode() -> Any:
    """End the innermost mode and return it."""
    return _pop_torch_function_stack()


@contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    """In the block, which gets it, the innermost mode sees nothing."""
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


def _get_overridable_functions() -> tuple[dict[Any, list[Any]], dict[Any, str]]:
    """Return the functions that can be overridden, by where they are, and where each is found."""
    return get_overridable_functions(), all_names()


def _get_tensor_methods() -> set[Any]:
    """Return the methods of tensors that can be overridden."""
    return set(get_overridable_functions()[Tensor])


def _get_overloaded_args(
    relevant_args: Iterable[Any], get_type_fn: Callable[[Any], type] = type
) -> list[Any]:
    """Return one argument of each class that wants to see calls, in the order in which they are asked."""
    asked: list[Any] = []
    for argument in relevant_args:
        cls = get_type_fn(argument)
        if any(get_type_fn(other) is cls for other in asked):
            continue
        handler = getattr(cls, "__torch_function__", _disabled_torch_function_impl)
        if handler is _disabled_torch_function_impl:
            continue
        # A class comes before those that it derives from.
        derived = (place for place, other in enumerate(asked) if issubclass(cls, get_type_fn(other)))
        asked.insert(next(derived, len(asked)), argument)
    return asked
