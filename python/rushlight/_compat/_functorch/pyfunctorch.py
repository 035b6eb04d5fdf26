"""The transforms and mappings that a thread is inside of, as objects."""

from __future__ import annotations

from typing import Any

from .._C._interpreters import (
    CGradInterpreterPtr,
    CInterpreter,
    CJvpInterpreterPtr,
    CVmapInterpreterPtr,
    RandomnessType,
    TransformType,
    get_interpreter_stack,
    peek_interpreter_stack,
)

__all__ = [
    "CGradInterpreterPtr",
    "CInterpreter",
    "CJvpInterpreterPtr",
    "CVmapInterpreterPtr",
    "FuncTorchInterpreter",
    "GradInterpreter",
    "JvpInterpreter",
    "RandomnessType",
    "TransformType",
    "VmapInterpreter",
    "coerce_cinterpreter",
    "compare_functorch_state",
    "retrieve_all_functorch_interpreters",
    "retrieve_current_functorch_interpreter",
]


class FuncTorchInterpreter:
    """A transform or a mapping that its thread is inside of."""

    def __init__(self, cptr: Any) -> None:
        self._cptr = cptr

    def key(self) -> TransformType:
        """Tell of which kind it is."""
        kind: TransformType = self._cptr.key()
        return kind

    def level(self) -> int:
        """Return its number, counted from one at the outermost."""
        level: int = self._cptr.level()
        return level

    def get_state(self) -> tuple[Any, ...]:
        """Return what tells it from others."""
        return self.key().name, self.level()

    def check_state(self, state: tuple[Any, ...]) -> bool:
        """Tell whether that is what tells it from others."""
        return state == self.get_state()


class GradInterpreter(FuncTorchInterpreter):
    """A transform in reverse mode."""

    def prev_grad_mode(self) -> bool:
        """Tell whether the thread was recording when the transform began."""
        recording: bool = self._cptr.prevGradMode()
        return recording

    def get_state(self) -> tuple[Any, ...]:
        return *super().get_state(), self.prev_grad_mode()


class JvpInterpreter(FuncTorchInterpreter):
    """A transform in forward mode."""

    def prev_fwd_grad_mode(self) -> bool:
        """Tell whether tangents passed operations when the transform began."""
        passing: bool = self._cptr.prevFwdGradMode()
        return passing

    def get_state(self) -> tuple[Any, ...]:
        return *super().get_state(), self.prev_fwd_grad_mode()


class VmapInterpreter(FuncTorchInterpreter):
    """A mapping over samples."""

    def batch_size(self) -> int:
        """Return how many samples there are."""
        size: int = self._cptr.batchSize()
        return size

    def randomness(self) -> str:
        """Tell what random operations do."""
        randomness: RandomnessType = self._cptr.randomness()
        return randomness.name.lower()

    def get_state(self) -> tuple[Any, ...]:
        return *super().get_state(), self.randomness()


_KINDS = {
    TransformType.Grad: (GradInterpreter, CGradInterpreterPtr),
    TransformType.Jvp: (JvpInterpreter, CJvpInterpreterPtr),
    TransformType.Vmap: (VmapInterpreter, CVmapInterpreterPtr),
}


def coerce_cinterpreter(cinterpreter: CInterpreter) -> FuncTorchInterpreter:
    """Return the object of its kind for a transform or a mapping."""
    kind, pointer = _KINDS[cinterpreter.key()]
    return kind(pointer(cinterpreter))


def retrieve_current_functorch_interpreter() -> FuncTorchInterpreter:
    """Return the innermost transform or mapping.

    >>> import rushlight as torch
    >>> from rushlight._functorch.pyfunctorch import retrieve_current_functorch_interpreter
    >>> def look(x):
    ...     print(retrieve_current_functorch_interpreter().get_state())
    ...     return x.sum()
    >>> _ = torch.vmap(torch.func.grad(look))(torch.ones(2, 3))
    ('Grad', 2, True)
    """
    innermost = peek_interpreter_stack()
    if innermost is None:
        raise AssertionError("interpreter must not be None")
    return coerce_cinterpreter(innermost)


def retrieve_all_functorch_interpreters() -> list[FuncTorchInterpreter]:
    """Return all transforms and mappings, the innermost last."""
    return [coerce_cinterpreter(one) for one in get_interpreter_stack() or ()]


def compare_functorch_state(states: list[tuple[Any, ...]]) -> bool:
    """Tell whether these tell the transforms and mappings from others that the thread is inside of."""
    interpreters = retrieve_all_functorch_interpreters()
    return len(states) == len(interpreters) and all(
        interpreter.check_state(state) for interpreter, state in zip(interpreters, states, strict=True)
    )
