"""What torch's compiled module says of graphs and of tensors that they keep."""

from __future__ import annotations

from ... import _rushlight
from ..._rushlight import (
    SavedTensor,
    Tensor,
    _get_current_graph_task_keep_graph,
    _pop_saved_tensors_default_hooks,
    _profiler_enabled,
    _push_saved_tensors_default_hooks,
    _refuse_saved_tensors_hooks,
    _saved_tensors_hooks_get_disabled_error_message,
    _unsafe_set_version_counter,
    ones,
)
from ...autograd.grad_mode import enable_grad
from ...autograd.profiler import kineto_available
from ...autograd.profiler_util import DeviceType
from ._called import mismatch, of_tensor
from ._kinds import Kind

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "CreationMeta",
    "DeviceType",
    "SavedTensor",
    "_get_creation_meta",
    "_get_current_graph_task_keep_graph",
    "_get_data_attr",
    "_get_sequence_nr",
    "_pop_saved_tensors_default_hooks",
    "_profiler_enabled",
    "_push_saved_tensors_default_hooks",
    "_saved_tensors_hooks_disable",
    "_saved_tensors_hooks_enable",
    "_saved_tensors_hooks_get_disabled_error_message",
    "_saved_tensors_hooks_is_enabled",
    "_set_creation_meta",
    "_top_saved_tensors_default_hooks",
    "_unsafe_set_version_counter",
    "kineto_available",
]


def _get_sequence_nr() -> int:
    """Return the position on the tape that the next node of this thread will have."""
    with enable_grad():
        number: int = (ones((), requires_grad=True) * 1).grad_fn._sequence_nr()
    return number + 1


def _saved_tensors_hooks_disable(error_message: str, fail_if_non_empty: bool = True) -> None:
    """Refuse hooks on saved tensors with an error of these words: by default, those that are there too."""
    if not isinstance(error_message, str):
        form = "(error_message: str, fail_if_non_empty: bool = True) -> None"
        raise mismatch("_saved_tensors_hooks_disable", form, error_message)
    _refuse_saved_tensors_hooks(error_message, fail_if_non_empty)


def _saved_tensors_hooks_enable() -> None:
    """Take hooks on saved tensors again."""
    _refuse_saved_tensors_hooks(None)


def _saved_tensors_hooks_is_enabled() -> bool:
    """Tell whether hooks on saved tensors are taken."""
    return _saved_tensors_hooks_get_disabled_error_message() is None


def _top_saved_tensors_default_hooks(
    *ignore_is_tracing: bool,
) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """Return the functions that pack what this thread saves and unpack it; nothing is traced."""
    if len(ignore_is_tracing) != 1:
        form = "(arg0: bool) -> tuple[collections.abc.Callable, collections.abc.Callable] | None"
        raise mismatch("_top_saved_tensors_default_hooks", form, *ignore_is_tracing)
    return _rushlight._top_saved_tensors_default_hooks()


class CreationMeta(Kind):
    """How a view came to be, which decides whether it may be written to."""

    DEFAULT = 0
    IN_CUSTOM_FUNCTION = 1
    MULTI_OUTPUT_NODE = 2
    NO_GRAD_MODE = 3
    INFERENCE_MODE = 4

    def __int__(self) -> int:
        return self.value


def _get_creation_meta(view: Tensor) -> CreationMeta:
    """Tell how a view came to be."""
    return CreationMeta(_rushlight._creation_of(view))


def _set_creation_meta(view: Tensor, creation: CreationMeta) -> None:
    """Say anew how a view came to be."""
    _rushlight._set_creation(view, creation.value)


@of_tensor("torch.Tensor")
def _get_data_attr(tensor: Tensor) -> Tensor:
    """Return `tensor.data`."""
    return tensor.data
