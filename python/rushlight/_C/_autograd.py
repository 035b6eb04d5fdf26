"""What torch's compiled module says of graphs and of tensors that they keep."""

from __future__ import annotations

from .._rushlight import (
    SavedTensor,
    _pop_saved_tensors_default_hooks,
    _profiler_enabled,
    _push_saved_tensors_default_hooks,
    _refuse_saved_tensors_hooks,
    _saved_tensors_hooks_get_disabled_error_message,
    _unsafe_set_version_counter,
    ones,
)
from ..autograd.grad_mode import enable_grad
from ..autograd.profiler import kineto_available
from ..autograd.profiler_util import DeviceType

__all__ = [
    "DeviceType",
    "SavedTensor",
    "_get_sequence_nr",
    "_pop_saved_tensors_default_hooks",
    "_profiler_enabled",
    "_push_saved_tensors_default_hooks",
    "_saved_tensors_hooks_disable",
    "_saved_tensors_hooks_enable",
    "_saved_tensors_hooks_get_disabled_error_message",
    "_saved_tensors_hooks_is_enabled",
    "_unsafe_set_version_counter",
    "kineto_available",
]


def _get_sequence_nr() -> int:
    """Return the position on the tape that the next node of this thread will have."""
    with enable_grad():
        number: int = (ones((), requires_grad=True) * 1).grad_fn._sequence_nr()
    return number + 1


def _saved_tensors_hooks_disable(error_message: str) -> None:
    """Refuse hooks on saved tensors with an error of these words."""
    _refuse_saved_tensors_hooks(error_message)


def _saved_tensors_hooks_enable() -> None:
    """Take hooks on saved tensors again."""
    _refuse_saved_tensors_hooks(None)


def _saved_tensors_hooks_is_enabled() -> bool:
    """Tell whether hooks on saved tensors are taken."""
    return _saved_tensors_hooks_get_disabled_error_message() is None
