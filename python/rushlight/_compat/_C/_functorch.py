"""What a tensor is inside of transforms: which layers there are around its numbers."""

from __future__ import annotations

from ... import _rushlight
from ..._rushlight import Tensor, _add_batch_dim, _unwrap_batched
from ..._rushlight import _get_inplace_requires_grad_allowed as get_inplace_requires_grad_allowed
from ..._rushlight import _set_inplace_requires_grad_allowed as set_inplace_requires_grad_allowed
from ...func import debug_unwrap
from . import _interpreters, _mappings
from ._called import of_tensor
from ._interpreters import *  # noqa: F403 - it says what it has
from ._levels import get_single_level_autograd_function_allowed, set_single_level_autograd_function_allowed
from ._mappings import *  # noqa: F403 - it says what it has

__all__ = [
    *_interpreters.__all__,
    *_mappings.__all__,
    "_add_batch_dim",
    "_unwrap_batched",
    "current_level",
    "get_inplace_requires_grad_allowed",
    "get_single_level_autograd_function_allowed",
    "get_unwrapped",
    "is_batchedtensor",
    "is_dead_tensor_wrapper",
    "is_functionaltensor",
    "is_functorch_wrapped_tensor",
    "is_gradtrackingtensor",
    "is_legacy_batchedtensor",
    "maybe_current_level",
    "maybe_get_bdim",
    "maybe_get_level",
    "set_inplace_requires_grad_allowed",
    "set_single_level_autograd_function_allowed",
    "unwrap_if_dead",
]


@of_tensor("bool")
def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Tell whether the outermost layer is that of a derivative, be it over."""
    return _rushlight._is_tracked_inside(tensor) or _has_escaped(tensor)


@of_tensor("bool")
def is_batchedtensor(tensor: Tensor) -> bool:
    """Tell whether the outermost layer is that of a mapping."""
    return _rushlight._is_batchedtensor(tensor) and not is_gradtrackingtensor(tensor)


@of_tensor("bool")
def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Tell whether there is any layer."""
    return _rushlight._is_batchedtensor(tensor) or is_gradtrackingtensor(tensor)


@of_tensor("bool")
def is_functionaltensor(tensor: Tensor) -> bool:
    """Tell whether the outermost layer is that of a function without writes, which needs none."""
    return False


@of_tensor("bool")
def is_legacy_batchedtensor(tensor: Tensor) -> bool:
    """Tell whether the outermost layer is that of a mapping of another kind; there is none."""
    return False


@of_tensor("int")
def maybe_get_level(tensor: Tensor) -> int:
    """Return the number of the outermost layer: -1 if there is none, and -2 for a derivative that is over."""
    if _has_escaped(tensor):
        return -2
    return max(_rushlight._layers(tensor), default=-1)


@of_tensor("int")
def maybe_get_bdim(tensor: Tensor) -> int:
    """Return along which dimension samples lie if the outermost layer is that of a mapping, otherwise -1."""
    if not is_batchedtensor(tensor):
        return -1
    dim = _rushlight._unwrap_batched(tensor, _rushlight._maybe_get_level(tensor))[1]
    return -1 if dim is None else dim


@of_tensor("torch.Tensor")
def get_unwrapped(tensor: Tensor) -> Tensor:
    """Return what the outermost layer is around."""
    if not is_functorch_wrapped_tensor(tensor):
        raise RuntimeError("No wrappers present!")
    return _rushlight._bare(tensor) if _has_escaped(tensor) else debug_unwrap(tensor, recurse=False)


@of_tensor("bool")
def is_dead_tensor_wrapper(tensor: Tensor) -> bool:
    """Tell whether the outermost layer is that of a derivative that is over."""
    return _has_escaped(tensor)


@of_tensor("torch.Tensor")
def unwrap_if_dead(tensor: Tensor) -> Tensor:
    """Return a tensor without the layers of derivatives that are over."""
    return _rushlight._bare(tensor) if _has_escaped(tensor) else tensor


def maybe_current_level() -> int | None:
    """Return how many transforms and mappings this thread is inside of, and `None` outside of all."""
    return _rushlight._transform_count() or None


def current_level() -> int:
    """Return how many transforms and mappings this thread is inside of."""
    level = maybe_current_level()
    if level is None:
        raise RuntimeError("There are no active transforms")
    return level


def _has_escaped(tensor: Tensor) -> bool:
    return _rushlight._has_escaped(tensor)
