"""Parts of transforms: levels that programs open, and tensors that enter and leave them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ... import _rushlight
from ..._rushlight import Tensor
from ...func._level import gradients
from ...utils._pytree import tree_map, tree_map_only
from .._C._functorch import unwrap_if_dead
from .._C._interpreters import (
    _grad_decrement_nesting,
    _grad_increment_nesting,
    _jvp_decrement_nesting,
    _jvp_increment_nesting,
    _set_requires_grad,
    _unwrap_for_grad,
    _wrap_for_grad,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@contextmanager
def grad_increment_nesting() -> Iterator[int]:
    """In the block, which gets its number, a transform in reverse mode goes on.

    >>> import rushlight as torch
    >>> from rushlight._functorch import eager_transforms as steps
    >>> with steps.grad_increment_nesting() as level:
    ...     x = steps._wrap_all_tensors(torch.tensor(3.0), level)
    ...     x = steps._create_differentiable(x, level)
    ...     (slope,) = steps._autograd_grad([x * x], [x])
    ...     steps._undo_create_differentiable(slope, level)
    tensor(6.)
    """
    level = _grad_increment_nesting()
    try:
        yield level
    finally:
        _grad_decrement_nesting()


@contextmanager
def jvp_increment_nesting() -> Iterator[int]:
    """In the block, which gets its number, a transform in forward mode goes on.

    >>> import rushlight as torch
    >>> from rushlight._functorch import eager_transforms as steps
    >>> from rushlight.autograd import forward_ad
    >>> with steps.jvp_increment_nesting() as level, forward_ad.dual_level():
    ...     x = forward_ad.make_dual(torch.tensor(3.0), torch.tensor(1.0))
    ...     _, slope = steps.safe_unpack_dual(x * x, strict=False)
    ...     steps._undo_create_differentiable(slope, level)
    tensor(6.)
    """
    level = _jvp_increment_nesting()
    try:
        yield level
    finally:
        _jvp_decrement_nesting()


@contextmanager
def enable_inplace_requires_grad(enabled: bool) -> Iterator[None]:
    """In the block, functions that are being transformed may call `requires_grad_`, or not."""
    before = _rushlight._get_inplace_requires_grad_allowed()
    _rushlight._set_inplace_requires_grad_allowed(enabled)
    try:
        yield
    finally:
        _rushlight._set_inplace_requires_grad_allowed(before)


def _set_tensor_requires_grad(x: Tensor) -> Tensor:
    """Have a tensor require grad, inside of transforms too."""
    return _set_requires_grad(x, True)


def _wrap_tensor_for_grad(maybe_tensor: Any, level: int) -> Any:
    """Return a tensor as the inside of a transform sees it, and anything else as it is."""
    return _wrap_for_grad(maybe_tensor, level) if isinstance(maybe_tensor, Tensor) else maybe_tensor


def _wrap_all_tensors(tensor_pytree: Any, level: int) -> Any:
    """Return the tensors of a tree as the inside of a transform sees them."""
    return tree_map(lambda leaf: _wrap_tensor_for_grad(leaf, level), tensor_pytree)


def _create_differentiable(inps: Any, level: int | None = None) -> Any:
    """Have all tensors of a tree require grad, which there must be nothing else in."""

    def create(leaf: Any) -> Tensor:
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
        return _set_tensor_requires_grad(leaf)

    return tree_map(create, inps)


def _undo_create_differentiable(inps: Any, level: int | None = None) -> Any:
    """Return the tensors of a tree as they are seen outside of a transform."""

    def undo(leaf: Any) -> Tensor:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
        return leaf if level is None else _unwrap_for_grad(leaf, level)

    return tree_map(undo, inps)


def _is_differentiable(maybe_tensor: Any) -> bool:
    """Tell whether something is a tensor that requires grad."""
    return isinstance(maybe_tensor, Tensor) and maybe_tensor.requires_grad


def _any_differentiable(tensor_or_tuple_of_tensors: Any) -> bool:
    """Tell whether a tensor, or one of a tuple, requires grad."""
    if isinstance(tensor_or_tuple_of_tensors, tuple):
        return any(map(_is_differentiable, tensor_or_tuple_of_tensors))
    return _is_differentiable(tensor_or_tuple_of_tensors)


def _autograd_grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor] | None = None,
    retain_graph: bool = False,
    create_graph: bool = True,
) -> tuple[Tensor, ...]:
    """Return the gradients of those outputs that have one; zeros for inputs that they do not depend on."""
    return tuple(
        gradients(
            outputs,
            inputs,
            grad_outputs,
            retain_graph=retain_graph or create_graph,
            create_graph=create_graph,
        )
    )


def unwrap_dead_wrappers(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments without the layers of derivatives that are over."""
    unwrapped: tuple[Any, ...] = tree_map_only(Tensor, unwrap_if_dead, args)
    return unwrapped
