"""Modes that are shown every operation of a thread before it runs, beneath autograd."""

from __future__ import annotations

from contextlib import contextmanager

from .. import _rushlight

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from typing_extensions import Self

__all__ = ["TorchDispatchMode"]


class TorchDispatchMode:
    """In the block, `__torch_dispatch__` answers in the place of every operation.

    It is given the operator, an empty tuple, and the arguments. Calling the operator with them goes on to the
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
