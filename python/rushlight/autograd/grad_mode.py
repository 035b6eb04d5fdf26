"""The modes in which a thread computes: recording or not, inference, and how backward runs.

Each is a context manager that also decorates functions. The mode itself is a flag of the thread and
lives in the compiled module, as do entering and leaving the common ones.
"""

from __future__ import annotations

from types import FunctionType

from .._rushlight import (
    _EnableGrad,
    _InferenceMode,
    _is_grad_layout_enforcement_enabled,
    _is_multithreading_enabled,
    _is_view_replay_enabled,
    _NoGrad,
    _set_grad_enabled,
    _set_grad_layout_enforcement_enabled,
    _set_multithreading_enabled,
    _set_view_replay_enabled,
    is_grad_enabled,
)

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any, TypeVar

    from typing_extensions import Self

    Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

_CLASS_WARNING = (
    "Decorating classes is deprecated and will be disabled in future versions. "
    "You should only decorate functions or methods. To preserve the current behavior "
    "of class decoration, you can directly decorate the `__init__` method and nothing else."
)


class _Decorates:
    """Makes a context manager decorate: every call of the function enters a fresh copy of it."""

    __slots__ = ()

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


class no_grad(_NoGrad, _Decorates):
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


class enable_grad(_EnableGrad, _Decorates):
    """Record, also inside of `no_grad`.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> with torch.no_grad(), torch.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    __slots__ = ()


class inference_mode(_InferenceMode, _Decorates):
    """Compute only: nothing is recorded, and writes to what is made are not counted.

    A tensor made in the block is an inference tensor for ever: nothing that is recorded may keep it.
    `inference_mode(False)` is a block out of the mode.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> with torch.inference_mode():
    ...     y = x * 2
    >>> y.requires_grad, y.is_inference()
    (False, True)
    >>> @torch.inference_mode()
    ... def double(x):
    ...     return x * 2
    >>> double(x).is_inference()
    True
    """

    __slots__ = ()

    def clone(self) -> Self:
        return type(self)(self.mode)


class _Flag(_Decorates):
    """Sets a flag of the thread at once, by being called, or for a block."""

    __slots__ = ("mode", "prev")
    mode: bool
    prev: bool

    @staticmethod
    def _is_set() -> bool:
        """Tell how the flag stands."""
        raise NotImplementedError

    @staticmethod
    def _set(mode: bool, /) -> None:
        """Set the flag."""
        raise NotImplementedError

    def __init__(self, mode: bool) -> None:
        self.prev = self._is_set()
        self._set(mode)
        self.mode = mode

    def __init_subclass__(cls) -> None:
        """Have each tell of its own name where it is called with the wrong arguments."""
        code = _Flag.__init__.__code__
        if cls.__init__.__code__ is not code:
            return
        own = FunctionType(code, globals(), "__init__")
        own.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = own  # type: ignore[method-assign]

    def __enter__(self) -> None:
        """Do nothing: the flag was set when this was made."""

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        """Bring back how the flag stood."""
        self._set(self.prev)

    def clone(self) -> Self:
        return type(self)(self.mode)


class _FlagOfCalls(_Flag):
    """A flag that a decoration leaves as it stands: only the calls are to find it set."""

    __slots__ = ()

    def __call__(self, orig_func: Function) -> Function:
        """Return `orig_func` running with the flag set."""
        self._set(self.prev)
        return super().__call__(orig_func)


class set_grad_enabled(_FlagOfCalls):
    """Set the mode at once, by calling it, or for a block.

    >>> import rushlight as torch
    >>> with torch.set_grad_enabled(False):
    ...     torch.is_grad_enabled()
    False
    >>> _ = torch.set_grad_enabled(True)
    >>> torch.is_grad_enabled()
    True
    """

    __slots__ = ()
    _is_set = staticmethod(is_grad_enabled)
    _set = staticmethod(_set_grad_enabled)

    def __enter__(self) -> None:
        self._set(self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}(mode={self.mode})"


class set_multithreading_enabled(_Flag):
    """Let backward use other threads or not, at once or for a block; the results are the same.

    >>> import rushlight as torch
    >>> with torch.autograd.set_multithreading_enabled(False):
    ...     torch.ones(2, requires_grad=True).sum().backward()
    """

    __slots__ = ()
    _is_set = staticmethod(_is_multithreading_enabled)
    _set = staticmethod(_set_multithreading_enabled)


class enforce_grad_layout_policy(_FlagOfCalls):
    """Lay a leaf's first gradient out in memory as the leaf is, or (`False`) take it as it comes.

    >>> import rushlight as torch
    >>> with torch.autograd.enforce_grad_layout_policy(False):
    ...     torch.ones(2, 3).t().requires_grad_().exp().sum().backward()
    """

    __slots__ = ()
    _is_set = staticmethod(_is_grad_layout_enforcement_enabled)
    _set = staticmethod(_set_grad_layout_enforcement_enabled)

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)


class _force_original_view_tracking(_FlagOfCalls):
    """Have views whose base was written to find their history by doing again what made them.

    >>> import rushlight as torch
    >>> with torch.autograd._force_original_view_tracking(True):
    ...     x = torch.ones(2, requires_grad=True).clone()
    ...     y = x[0]
    ...     y.grad_fn.name(), y.mul_(2).grad_fn.name()
    ('SelectBackward0', 'SelectBackward0')
    """

    __slots__ = ()
    _is_set = staticmethod(_is_view_replay_enabled)
    _set = staticmethod(_set_view_replay_enabled)


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


def _drive(make_context: Callable[[], Any], generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
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
