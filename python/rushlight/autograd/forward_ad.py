"""Derivatives in forward direction: dual tensors carry a tangent, and every operation passes it on.

>>> import rushlight as torch
>>> import rushlight.autograd.forward_ad as fwAD
>>> with fwAD.dual_level():
...     dual = fwAD.make_dual(torch.tensor(3.0), torch.tensor(1.0))
...     print(fwAD.unpack_dual(dual * dual))
UnpackedDualTensor(primal=tensor(9.), tangent=tensor(6.))
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from threading import Lock, get_ident, local
from typing import TYPE_CHECKING, NamedTuple

from .. import _rushlight as _core
from .._calls.contexts import _DecoratorContextManager
from .._functions.under_vmap import refuse
from .._rushlight import Tensor, _is_fwd_grad_enabled
from .grad_mode import _Flag, inference_mode

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_NESTED = "Nested forward mode AD is not supported at the moment"

# The level as the functions here count: zero inside of a level, less outside. In the engine levels
# have numbers that never come again: that of this level is kept beside it. Threads share the level, but
# only the one that entered it is inside.
_current_level = -1
_entered = 0
_entered_by = 0
_entering = Lock()


class _Transforms(local):
    """The levels of the transforms that a thread is in, by the engine's numbers."""

    def __init__(self) -> None:
        # Of each, whether tangents passed outside.
        self.levels: dict[int, bool] = {}
        # Those that programs opened themselves, which have to enter the level of the functions here, too.
        self.opened: list[int] = []

    def suffice(self) -> bool:
        """Tell whether there is a transform within which tensors may be given tangents at once."""
        return len(self.levels) > len(self.opened)


_transforms = _Transforms()


def enter_dual_level() -> int:
    """Enter a level of forward mode, at which tensors may be given tangents; there is one at a time.

    >>> import rushlight as torch
    >>> from rushlight.autograd import forward_ad
    >>> level = forward_ad.enter_dual_level()
    >>> dual = forward_ad.make_dual(torch.tensor(2.0), torch.tensor(1.0))
    >>> forward_ad.unpack_dual(dual**3).tangent
    tensor(12.)
    >>> forward_ad.exit_dual_level(level=level)
    """
    global _current_level, _entered, _entered_by
    with _entering:
        if _current_level >= 0 or _transforms.suffice():
            raise RuntimeError(_NESTED)
        _current_level, _entered, _entered_by = 0, _core._enter_dual_level(), get_ident()
        return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level: all tangents go.

    >>> import rushlight as torch
    >>> from rushlight.autograd import forward_ad
    >>> _ = forward_ad.enter_dual_level()
    >>> dual = forward_ad.make_dual(torch.tensor(2.0), torch.tensor(1.0))
    >>> forward_ad.exit_dual_level()
    >>> print(forward_ad.unpack_dual(dual).tangent)
    None
    """
    global _current_level
    if level is None:
        level = _current_level
    if level != _current_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. "
            "This is not supported."
        )
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    _core._exit_forward_level(_entered)
    _current_level = -1


class UnpackedDualTensor(NamedTuple):
    """A dual tensor taken apart: its values, and its tangent if it has one."""

    primal: Tensor
    tangent: Tensor | None


@contextmanager
def _transform() -> Iterator[int]:
    """Enter a level for a transform on this thread; such levels nest. Yield where on the tape it begins."""
    if _current_level >= 0 and _entered_by == get_ident() and not _transforms.levels:
        raise RuntimeError(_NESTED)
    inferring = _core.is_inference_mode_enabled()
    level, since = _begin_transform()
    try:
        # Where the outside infers, the inside still has derivatives, but records nothing for it.
        with inference_mode(False) if inferring else nullcontext():
            if inferring:
                _core._set_grad_enabled(False)
            yield since
    finally:
        _end_transform(level)


def _begin_transform() -> tuple[int, int]:
    """Enter a level for a transform; return it, and where on the tape it begins."""
    passing = _is_fwd_grad_enabled()
    level = _core._enter_jvp_level()
    since = _core._enter_transform(True)
    _transforms.levels[level] = passing
    return level, since


def _end_transform(level: int) -> None:
    """Leave the level of a transform."""
    del _transforms.levels[level]
    _core._leave_transform()
    _core._exit_forward_level(level)


def _open_transform() -> tuple[int, int]:
    """Enter a level for a transform that the program ends itself."""
    level, since = _begin_transform()
    _core._set_fwd_grad_enabled(_transforms.levels[level])
    _transforms.opened.append(level)
    return level, since


def _close_transform(level: int) -> None:
    """Leave the level of such a transform."""
    _transforms.opened.remove(level)
    _end_transform(level)


def _level(level: int | None) -> int:
    """Return the level as the functions here count; one that was not given is the current one."""
    if level is not None:
        return level
    return 0 if _transforms.suffice() else _current_level


def _number(level: int) -> int:
    """Return the engine's number of a level; zero for one that was not entered."""
    if level > 0:
        return 0
    if _transforms.levels:
        return next(reversed(_transforms.levels))
    return _entered if _current_level >= 0 else 0


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a view of `tensor` that carries `tangent`.

    The tangent is carried as it is if it lies in memory as the tensor does, and copied otherwise. A
    gradient passes to both.

    >>> import rushlight as torch
    >>> from rushlight.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     dual = forward_ad.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
    ...     forward_ad.unpack_dual(dual * dual).tangent
    tensor([2., 0.])
    """
    level = _level(level)
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    _check_types(tensor, tangent)
    _refuse_samples("_make_dual", tensor, tangent)
    return _make_dual(tensor, tangent, level)


def _check_types(tensor: Tensor, tangent: Tensor) -> None:
    for name, part in (("primal", tensor), ("tangent", tangent)):
        if not (part.is_floating_point() or part.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {part.dtype}")


def _make_dual(tensor: Tensor, tangent: Tensor, level: int = 0) -> Tensor:
    """Make a dual tensor, of what stands for many samples too."""
    if level > 0:
        raise RuntimeError("Invalid level given to _make_dual")
    number = _number(level)
    if number == 0:
        raise RuntimeError(
            "Trying to access a forward AD level with an invalid index. This index was either not "
            "created or is already deleted."
        )
    if tensor.is_inference() and tangent.is_inference():
        with inference_mode():  # What was inferred both has no derivative.
            return tensor.view_as(tensor)
    return _core._make_dual(tensor, tangent, number)


def _refuse_samples(operation: str, *tensors: Tensor) -> None:
    """Refuse tensors that stand for many samples, unless a transform inside of the mapping follows them."""
    for tensor in tensors:
        if _core._is_batchedtensor(tensor) and not _core._is_tracked_inside(tensor):
            refuse("MappedView", operation)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the values of `tensor` and its tangent, which is `None` if it has none.

    >>> import rushlight as torch
    >>> from rushlight.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     dual = forward_ad.make_dual(torch.tensor(3.0), torch.tensor(1.0))
    ...     primal, tangent = forward_ad.unpack_dual(dual.exp().log())
    >>> primal, tangent
    (tensor(3.), tensor(1.))
    """
    level = _level(level)
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    _refuse_samples("_unpack_dual", tensor)
    return _unpack_dual(tensor, level)


def _unpack_dual(tensor: Tensor, level: int | None = None) -> UnpackedDualTensor:
    """Take tensors apart that may stand for many samples."""
    level = _level(level)
    if level > 0 and _core._unpack_dual(tensor, _number(0))[1] is not None:
        raise RuntimeError("Invalid level given to _fw_primal")
    return UnpackedDualTensor(*_core._unpack_dual(tensor, _number(level)))


class dual_level(_DecoratorContextManager):
    """A level of forward mode for a block, or for every call of a function.

    >>> import rushlight as torch
    >>> from rushlight.autograd.forward_ad import dual_level, make_dual, unpack_dual
    >>> @dual_level()
    ... def slope(f, x):
    ...     return unpack_dual(f(make_dual(x, torch.ones_like(x)))).tangent
    >>> slope(torch.exp, torch.zeros(2))
    tensor([1., 1.])
    """

    __slots__ = ()

    def __enter__(self) -> int:
        """Enter the level and return it."""
        return enter_dual_level()

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        """Leave the level."""
        exit_dual_level()


class _set_fwd_grad_enabled(_Flag):
    """Have operations pass tangents on, or not: from the making of the object to the end of its block."""

    __slots__ = ()
    _is_set = staticmethod(_is_fwd_grad_enabled)

    @staticmethod
    def _set(mode: bool, /) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"enabled must be a bool (got {type(mode).__name__})")
        _core._set_fwd_grad_enabled(mode)
