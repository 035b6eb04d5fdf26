"""Parts of functions that are mapped over samples."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor
from ...func.vmap import _check_randomness, _entered, _entering, _Mapped, _name, level, vmap
from ...utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_structure, tree_unflatten

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...utils._pytree import TreeSpec

in_dims_t = int | tuple[Any, ...]
out_dims_t = int | tuple[int, ...] | None

_check_randomness_arg = _check_randomness


def _as_tuple(value: Any, num_elements: int, error_message_lambda: Callable[[], str]) -> tuple[Any, ...]:
    """Return so many values: a single one as often as that."""
    if not isinstance(value, tuple):
        return (value,) * num_elements
    if len(value) != num_elements:
        raise ValueError(error_message_lambda())
    return value


def _num_outputs(batched_outputs: Any) -> int:
    return len(batched_outputs) if isinstance(batched_outputs, tuple) else 1


def _validate_and_get_batch_size(flat_in_dims: list[int | None], flat_args: list[Any]) -> int:
    """Return how many samples there are along these dimensions of arguments."""
    return _entering(_validate_and_get_batch_size, tuple(flat_in_dims), tuple(flat_args))[3]


def _process_batched_inputs(
    in_dims: in_dims_t, args: tuple[Any, ...], func: Callable[..., Any]
) -> tuple[int, list[int | None], list[Any], TreeSpec]:
    """Return how many samples there are, their dimensions in the leaves of the arguments, these, and how
    they are put together.
    """
    leaves, dims, spec, size = _entering(func, in_dims, args)
    return size, dims, leaves, spec


def _create_batched_inputs(
    flat_in_dims: list[int | None], flat_args: list[Any], vmap_level: int, args_spec: TreeSpec
) -> Any:
    """Return the arguments as a function that is mapped sees them."""
    return tree_unflatten(_entered(flat_args, flat_in_dims, vmap_level), args_spec)


def _unwrap_batched(
    batched_outputs: Any, out_dims: out_dims_t, vmap_level: int, batch_size: int, func: Callable[..., Any]
) -> Any:
    """Return the results of a function that is mapped as they are outside of it."""
    spec = tree_structure(batched_outputs)
    return _Mapped(func, spec, out_dims, "error", {})._left(batched_outputs, vmap_level)


def wrap_batched(args: tuple[Any, ...], bdims: in_dims_t, level: int) -> Any:
    """Return arguments whose samples lie along these dimensions as a function that is mapped sees them."""
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(bdims, spec)
    if dims is None:
        raise AssertionError("flat_bdims must not be None")
    return _create_batched_inputs(dims, leaves, level, spec)


def vmap_impl(
    func: Callable[..., Any],
    in_dims: in_dims_t,
    out_dims: out_dims_t,
    randomness: str,
    chunk_size: int | None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Call a function that is mapped in this way."""
    return vmap(func, in_dims, out_dims, randomness, chunk_size=chunk_size)(*args, **kwargs)


def get_chunk_sizes(total_elems: int, chunk_size: int) -> list[int]:
    """Return how many samples each chunk has."""
    whole, rest = divmod(total_elems, chunk_size)
    return [chunk_size] * whole + [rest] * bool(rest)


def chunk_vmap(
    func: Callable[..., Any],
    in_dims: in_dims_t = 0,
    out_dims: out_dims_t = 0,
    randomness: str = "error",
    chunks: int = 2,
) -> Callable[..., Any]:
    """Return a function that maps `func` over samples in so many chunks.

    >>> import rushlight as torch
    >>> from rushlight._functorch.apis import chunk_vmap
    >>> chunk_vmap(torch.sum, chunks=2)(torch.ones(3, 2))
    tensor([2., 2., 2.])
    """
    if chunks == 1:
        return vmap(func, in_dims, out_dims, randomness)

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        size = _entering(func, in_dims, args)[3]
        each = max(1, -(-size // chunks))
        return vmap(func, in_dims, out_dims, randomness, chunk_size=each)(*args, **kwargs)

    return mapped


def _vmap(
    func: Callable[..., Any],
    in_dims: in_dims_t = 0,
    out_dims: out_dims_t = 0,
    allow_none_pass_through: bool = False,
) -> Callable[..., Any]:
    """Return a function that maps `func` over samples; with `allow_none_pass_through` it may return `None`
    among its results.
    """

    @functools.wraps(func)
    def mapped(*args: Any) -> Any:
        leaves, dims, spec, size = _entering(func, in_dims, args)
        with level(size, "unasked") as number:
            outputs = func(*_create_batched_inputs(dims, leaves, number, spec))
            mapping = _Mapped(func, spec, out_dims, "error", {})
            if isinstance(outputs, Tensor):
                return mapping._left(outputs, number)
            name = _name(func)
            each = _as_tuple(
                out_dims,
                len(outputs),
                lambda: (
                    f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must have one dim per output (got "
                    f"{len(outputs)} outputs) of {name}."
                ),
            )
            return tuple(
                None
                if output is None and allow_none_pass_through
                else _left(mapping, output, dim, number, place)
                for place, (output, dim) in enumerate(zip(outputs, each, strict=True))
            )

    return mapped


def _left(mapping: _Mapped, output: Any, dim: int | None, number: int, place: int) -> Any:
    if not isinstance(output, Tensor):
        name = _name(mapping.func)
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(output)} for return "
            f"{place}."
        )
    return mapping._one_left(output, dim, number)
