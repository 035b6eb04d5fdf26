"""What is known while torch's compiler traces a program. Nothing here traces, so that nothing is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._subclasses import FakeTensorMode

__all__ = ["CompileContext", "TracingContext", "active_fake_mode", "detect_fake_mode"]


class _Context:
    """What is known of something that is going on: it never is."""

    _NAME = ""

    @classmethod
    def get(cls) -> Any:
        """Return what is known, which has to be asked for while it goes on."""
        raise RuntimeError(cls._NAME)

    @staticmethod
    def try_get() -> None:
        """Return what is known: nothing."""


class CompileContext(_Context):
    """What is known while a function is compiled."""

    _NAME = "compile_context is not set"

    @classmethod
    def current_compile_id(cls) -> None:
        """Return which compilation goes on: none."""

    current_trace_id = current_compile_id


class TracingContext(_Context):
    """What is known while a program is traced."""

    _NAME = "TracingContext.get() must be called within an ongoing trace."


def active_fake_mode() -> FakeTensorMode | None:
    """Return the mode of this thread in which tensors have no numbers, the innermost."""
    return detect_fake_mode()


def detect_fake_mode(inputs: Any = None) -> FakeTensorMode | None:
    """Return the mode in which tensors have no numbers: that of this thread, else that of the inputs.

    >>> import rushlight as torch
    >>> from rushlight._subclasses import FakeTensorMode
    >>> with FakeTensorMode() as mode:
    ...     x = torch.ones(1)
    >>> detect_fake_mode([x]) is mode, detect_fake_mode([torch.ones(1)])
    (True, None)
    """
    from .. import _rushlight as native
    from ..utils import _pytree
    from ._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    for mode in reversed(native._interceptors()):
        if isinstance(mode, FakeTensorMode):
            return mode
    fakes = (one for one in _pytree.tree_leaves(inputs) if isinstance(one, FakeTensor))
    return next((one.fake_mode for one in fakes), None)
