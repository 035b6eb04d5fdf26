"""The modes in which a thread computes: recording or not, inference, and how backward runs.

Each is a context manager that also decorates functions. The mode itself is a flag of the thread and
lives in the compiled module, as do entering and leaving the common ones.
"""

from __future__ import annotations

from .._calls.contexts import _DecoratorContextManager, _NoParamDecoratorContextManager
from .._rushlight import (
    Tensor,
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
    _unsafe_set_version_counter,
    is_grad_enabled,
)

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

    from .._calls.contexts import Function

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class _Copied:
    """A mode of the compiled module, which is copied and pickled as what it was made of."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = (self.mode,) if isinstance(self, _InferenceMode) else ()
        return type(self), made_of, getattr(self, "__dict__", None) or None


class no_grad(_Copied, _NoGrad, _NoParamDecoratorContextManager):
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


class enable_grad(_Copied, _EnableGrad, _NoParamDecoratorContextManager):
    """Record, also inside of `no_grad`.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> with torch.no_grad(), torch.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    __slots__ = ()


class inference_mode(_Copied, _InferenceMode, _DecoratorContextManager):
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


def _enter_inference_mode(mode: bool) -> _InferenceMode:
    """Enter inference mode, or leave it, until what this returns is given back."""
    entered = _InferenceMode(mode)
    entered.__enter__()
    return entered


def _exit_inference_mode(mode: _InferenceMode) -> None:
    """End what `_enter_inference_mode` began."""
    mode.__exit__(None, None, None)


class _Flag(_DecoratorContextManager):
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
        if "__init__" in vars(cls):
            return

        def __init__(self: _Flag, mode: bool) -> None:
            _Flag.__init__(self, mode)

        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = __init__  # type: ignore[method-assign]

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


class _unsafe_preserve_version_counter:
    """Puts the tensors' counts of writes back at the end of a block, as if nothing had been written."""

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple")
        self.prev_versions = tuple(tensor._version for tensor in self.tensors)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> None:
        _unsafe_set_version_counter(self.tensors, self.prev_versions)
