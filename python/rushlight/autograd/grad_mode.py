"""Switching the recording of gradients on and off, for a block or for a function."""

from __future__ import annotations

from .._rushlight import _set_grad_enabled, is_grad_enabled

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any, TypeVar, overload

    from typing_extensions import Self

    Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = ["enable_grad", "no_grad", "set_grad_enabled"]

_CLASS_WARNING = (
    "Decorating classes is deprecated and will be disabled in future versions. "
    "You should only decorate functions or methods. To preserve the current behavior "
    "of class decoration, you can directly decorate the `__init__` method and nothing else."
)


class _GradMode:
    """A context manager that also decorates: every call enters a fresh copy of it."""

    __slots__ = ("prev",)
    prev: bool

    def __call__(self, orig_func: Function) -> Function:
        """Return `orig_func` running in this mode."""
        if isinstance(orig_func, type):
            import warnings

            warnings.warn(_CLASS_WARNING, FutureWarning, stacklevel=2)
            construct = orig_func
            wrapped: Function = _decorate(self.clone, lambda *args, **kwargs: construct(*args, **kwargs))
        else:
            wrapped = _decorate(self.clone, orig_func)
        return wrapped

    def clone(self) -> Self:
        """Return a context manager of the same mode that is not entered yet."""
        return type(self)()

    def __enter__(self) -> None:
        """Remember the mode; a subclass sets its own."""
        self.prev = is_grad_enabled()

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        """Bring the remembered mode back."""
        _set_grad_enabled(self.prev)


class no_grad(_GradMode):
    """Do not record: results of the block have `requires_grad=False`.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    >>> @torch.no_grad()
    ... def double(x):
    ...     return x * 2
    >>> double(x).requires_grad
    False
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        def __new__(cls, orig_func: Function) -> Function: ...  # type: ignore[misc]
        @overload
        def __new__(cls, orig_func: None = None) -> Self: ...

    def __new__(cls, orig_func: Any = None) -> Any:
        if orig_func is None:
            return object.__new__(cls)
        return cls()(orig_func)

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        _set_grad_enabled(False)


class enable_grad(_GradMode):
    """Record, also inside of `no_grad`.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> with torch.no_grad(), torch.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        def __new__(cls, orig_func: Function) -> Function: ...  # type: ignore[misc]
        @overload
        def __new__(cls, orig_func: None = None) -> Self: ...

    def __new__(cls, orig_func: Any = None) -> Any:
        if orig_func is None:
            return object.__new__(cls)
        return cls()(orig_func)

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        _set_grad_enabled(True)


class set_grad_enabled(_GradMode):
    """Set the mode at once, by calling it, or for a block.

    >>> import rushlight as torch
    >>> with torch.set_grad_enabled(False):
    ...     torch.is_grad_enabled()
    False
    >>> _ = torch.set_grad_enabled(True)
    >>> torch.is_grad_enabled()
    True
    """

    __slots__ = ("mode",)

    def __init__(self, mode: bool) -> None:
        self.prev = is_grad_enabled()
        self.mode = mode
        _set_grad_enabled(mode)

    def __call__(self, orig_func: Function) -> Function:
        """Return `orig_func` running in this mode; the decoration itself changes nothing."""
        _set_grad_enabled(self.prev)
        return super().__call__(orig_func)

    def __enter__(self) -> None:
        _set_grad_enabled(self.mode)

    def clone(self) -> Self:
        return type(self)(self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}(mode={self.mode})"


def _decorate(make_context: Callable[[], _GradMode], function: Any) -> Any:
    from functools import wraps
    from inspect import isgeneratorfunction

    if isgeneratorfunction(function):

        @wraps(function)
        def in_context(*args: Any, **kwargs: Any) -> Any:
            return (yield from _drive(make_context, function(*args, **kwargs)))
    else:

        @wraps(function)
        def in_context(*args: Any, **kwargs: Any) -> Any:
            with make_context():
                return function(*args, **kwargs)

    return in_context


def _drive(
    make_context: Callable[[], _GradMode], generator: Generator[Any, Any, Any]
) -> Generator[Any, Any, Any]:
    """Run `generator` in the mode, and the code between its steps outside of it."""
    step, argument = generator.send, None
    while True:
        try:
            with make_context():
                value = step(argument)
        except StopIteration as stop:
            return stop.value
        try:
            argument = yield value
            step = generator.send
        except GeneratorExit:
            with make_context():
                generator.close()
            raise
        except BaseException as error:
            step, argument = generator.throw, error
