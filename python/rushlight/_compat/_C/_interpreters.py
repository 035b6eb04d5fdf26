"""The transforms and mappings that a thread is inside of, and those that programs open themselves."""

from __future__ import annotations

from threading import local
from typing import Any, NamedTuple

from ... import _rushlight
from ..._rushlight import Tensor
from ...autograd import forward_ad
from ._kinds import Kind

__all__ = [
    "CGradInterpreterPtr",
    "CInterpreter",
    "CJvpInterpreterPtr",
    "CVmapInterpreterPtr",
    "RandomnessType",
    "TransformType",
    "_grad_decrement_nesting",
    "_grad_increment_nesting",
    "_jvp_decrement_nesting",
    "_jvp_increment_nesting",
    "_remove_batch_dim",
    "_unwrap_for_grad",
    "_vmap_decrement_nesting",
    "_vmap_increment_nesting",
    "_wrap_for_grad",
    "get_interpreter_stack",
    "peek_interpreter_stack",
]


class TransformType(Kind):
    """The kinds of transforms."""

    Torch = 0
    Vmap = 1
    Grad = 2
    Jvp = 3
    Functionalize = 4


class RandomnessType(Kind):
    """What random operations do while a function is mapped."""

    Error = 0
    Same = 1
    Different = 2


class _Known(NamedTuple):
    """What the engine tells of a transform or a mapping."""

    level: int
    kind: str
    recording: bool | None
    samples: tuple[int, str] | None


class CInterpreter:
    """A transform or a mapping that its thread is inside of."""

    def __init__(self, known: _Known) -> None:
        self._known = known

    def key(self) -> TransformType:
        """Tell of which kind it is."""
        return TransformType[self._known.kind]

    def level(self) -> int:
        """Return its number, counted from one at the outermost."""
        return self._known.level


class _Kind(CInterpreter):
    """An interpreter that is known to be of one kind."""

    _key: TransformType

    def __init__(self, interpreter: CInterpreter) -> None:
        if interpreter.key() is not self._key:
            raise RuntimeError(f"base->key() == TransformType::{self._key.name} INTERNAL ASSERT FAILED")
        super().__init__(interpreter._known)


class CGradInterpreterPtr(_Kind):
    """A transform in reverse mode."""

    _key = TransformType.Grad

    def prevGradMode(self) -> bool:
        """Tell whether the thread was recording when the transform began."""
        return bool(self._known.recording)


class CJvpInterpreterPtr(_Kind):
    """A transform in forward mode."""

    _key = TransformType.Jvp

    def prevFwdGradMode(self) -> bool:
        """Tell whether tangents passed operations when the transform began."""
        stack = get_interpreter_stack() or []
        outside = sum(one.key() is self._key and one.level() < self.level() for one in stack)
        return list(forward_ad._transforms.levels.values())[outside]


class CVmapInterpreterPtr(_Kind):
    """A mapping over samples."""

    _key = TransformType.Vmap
    _known: Any

    def batchSize(self) -> int:
        """Return how many samples there are."""
        size: int = self._known.samples[0]
        return size

    def randomness(self) -> RandomnessType:
        """Tell what random operations do."""
        return RandomnessType[self._known.samples[1].capitalize()]


def get_interpreter_stack() -> list[CInterpreter] | None:
    """Return the transforms and mappings that this thread is inside of, the innermost last."""
    return [CInterpreter(_Known(*known)) for known in _rushlight._interpreters()] or None


def peek_interpreter_stack() -> CInterpreter | None:
    """Return the innermost of them."""
    stack = get_interpreter_stack()
    return stack[-1] if stack else None


class _Entered(NamedTuple):
    """A transform that a program opened: where on the tape it begins, and whether the outside records."""

    level: int
    since: int
    recording: bool
    # The level of forward mode that is its own.
    forward: int | None = None


class _Opened(local):
    def __init__(self) -> None:
        self.transforms: list[_Entered] = []


_opened = _Opened()


def _is_innermost(kind: TransformType, level: int | None = None) -> bool:
    innermost = peek_interpreter_stack()
    return innermost is not None and innermost.key() is kind and level in (None, innermost.level())


def _grad_increment_nesting() -> int:
    """Begin a transform in reverse mode and return its number."""
    recording = _rushlight.is_grad_enabled()
    since = _rushlight._enter_transform()
    level = _rushlight._transform_count()
    _opened.transforms.append(_Entered(level, since, recording))
    return level


def _grad_decrement_nesting() -> int:
    """End the transform that was begun last and return its number."""
    opened = _ended(TransformType.Grad)
    _rushlight._leave_transform()
    return opened.level


def _jvp_increment_nesting() -> int:
    """Begin a transform in forward mode and return its number."""
    recording = _rushlight.is_grad_enabled()
    forward, since = forward_ad._open_transform()
    level = _rushlight._transform_count()
    _opened.transforms.append(_Entered(level, since, recording, forward))
    return level


def _jvp_decrement_nesting() -> int:
    """End the transform in forward mode that was begun last and return its number."""
    opened = _ended(TransformType.Jvp)
    assert opened.forward is not None
    forward_ad._close_transform(opened.forward)
    return opened.level


def _ended(kind: TransformType) -> _Entered:
    """Forget the transform that a program opened last, which has to be the innermost."""
    opened = _opened.transforms
    if not opened or not _is_innermost(kind, opened[-1].level):
        began = f"_{kind.name.lower()}_increment_nesting"
        raise RuntimeError(f"the innermost of the transforms is not one that {began} began")
    return opened.pop()


def _wrap_for_grad(tensor: Tensor, level: int) -> Tensor:
    """Return a tensor on the same memory that a transform may follow: from `requires_grad_` on it does."""
    transform = _transform(level)
    if transform is None or not _is_innermost(_kind(transform), level):
        raise RuntimeError(f"the innermost transform is not one at level {level} that was begun by hand")
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor
    inner = _rushlight._inner_leaf(tensor, transform.recording)
    return _set_requires_grad(inner, False)


def _unwrap_for_grad(tensor: Tensor, level: int) -> Tensor:
    """Return a tensor as it is seen outside of a transform."""
    transform = _transform(level)
    return tensor if transform is None else _rushlight._outer(tensor, transform.since, transform.recording)


def _kind(transform: _Entered) -> TransformType:
    return TransformType.Grad if transform.forward is None else TransformType.Jvp


def _transform(level: int) -> _Entered | None:
    return next((entered for entered in _opened.transforms if entered.level == level), None)


def _set_requires_grad(tensor: Tensor, requires_grad: bool) -> Tensor:
    """Say whether a tensor requires grad, inside of transforms too."""
    before = _rushlight._get_inplace_requires_grad_allowed()
    _rushlight._set_inplace_requires_grad_allowed(True)
    try:
        return tensor.requires_grad_(requires_grad)
    finally:
        _rushlight._set_inplace_requires_grad_allowed(before)


def _vmap_increment_nesting(batch_size: int, randomness: str) -> int:
    """Begin a mapping over so many samples and return its number."""
    return _rushlight._vmap_increment_nesting(batch_size, randomness)


def _vmap_decrement_nesting() -> int:
    """End the innermost mapping and return its number."""
    if not _is_innermost(TransformType.Vmap):
        raise RuntimeError("the innermost of the transforms is not a mapping")
    level = _rushlight._transform_count()
    _rushlight._vmap_decrement_nesting()
    return level


def _remove_batch_dim(tensor: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    """Return all samples of a tensor along a dimension."""
    return _rushlight._remove_batch_dim(tensor, level, out_dim)
