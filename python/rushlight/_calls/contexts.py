"""Context managers that decorate: every call of the function is in a fresh one."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any, TypeVar

    from typing_extensions import Self

    Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = ["_DecoratorContextManager", "_NoParamDecoratorContextManager", "context_decorator"]

_CLASS_WARNING = (
    "Decorating classes is deprecated and will be disabled in future versions. "
    "You should only decorate functions or methods. To preserve the current behavior "
    "of class decoration, you can directly decorate the `__init__` method and nothing else."
)


class _DecoratorContextManager:
    """Makes a context manager decorate: every call of the function enters a fresh copy of it."""

    __slots__ = ()

    def __call__(self, orig_func: Function) -> Function:
        """Return `orig_func` running in this context."""
        if isinstance(orig_func, type):
            import warnings

            warnings.warn(_CLASS_WARNING, FutureWarning, stacklevel=2)
            construct = orig_func
            wrapped: Function = _decorate(self.clone, lambda *args, **kwargs: construct(*args, **kwargs))
        else:
            wrapped = _decorate(self.clone, orig_func)
        return wrapped

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        raise NotImplementedError

    def clone(self) -> Self:
        """Return a context manager of the same kind that is not entered yet."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that is made of nothing, so that it also decorates without being called: `@no_grad`."""

    __slots__ = ()

    def __new__(cls, orig_func: Any = None) -> Any:
        made = super().__new__(cls)
        return made if orig_func is None else cls()(orig_func)


def context_decorator(ctx: Any, func: Any) -> Any:
    """Return `func` with every call in a context: `ctx` itself, or what `ctx()` makes."""
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), making it "
            "ambiguous which interface to use.  If you intended to pass a context manager factory, rewrite "
            "your call as context_decorator(lambda: ctx()); if you intended to pass a context manager "
            "directly, rewrite your call as context_decorator(lambda: ctx)"
        )
    return _decorate(ctx if callable(ctx) else lambda: ctx, func)


def _decorate(make_context: Callable[[], Any], function: Any) -> Any:
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


IN_CONTEXT = frozenset(
    code
    for code in _decorate.__code__.co_consts
    if isinstance(code, type(_decorate.__code__)) and code.co_name == "in_context"
)
"""The code around a function that is decorated: it returns what that returns."""


def _drive(make_context: Callable[[], Any], generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Run `generator` in the context, and the code between its steps outside of it."""
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
