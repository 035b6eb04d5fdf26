"""Parts of derivatives, as functions of the arguments by which is differentiated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...func import reverse
from ...func._arguments import chosen, positions, replaced
from ...func._basis import standard_basis
from ...func.reverse import grad, grad_and_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..._rushlight import Tensor

argnums_t = int | tuple[int, ...]


def grad_impl(
    func: Callable[..., Any], argnums: argnums_t, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return the gradients of a function that is called in this way."""
    return grad(func, argnums, has_aux)(*args, **kwargs)


def grad_and_value_impl(
    func: Callable[..., Any], argnums: argnums_t, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return the gradients and the value of a function that is called in this way."""
    return grad_and_value(func, argnums, has_aux)(*args, **kwargs)


def _vjp_with_argnums(
    func: Callable[..., Any], *primals: Any, argnums: argnums_t | None = None, has_aux: bool = False
) -> tuple[Any, ...]:
    """Do what `vjp` does, by the arguments of these numbers."""
    return reverse._vjp_with_argnums(func, primals, argnums, has_aux)


def _slice_argnums(args: tuple[Any, ...], argnums: argnums_t, as_tuple: bool = True) -> Any:
    """Return the arguments of these numbers."""
    found = chosen(args, positions(argnums, len(args)))
    return (found,) if as_tuple and isinstance(argnums, int) else found


def _replace_args(
    old_args: tuple[Any, ...], new_args: tuple[Any, ...], argnums: argnums_t
) -> tuple[Any, ...]:
    """Return the arguments with others in the places of these numbers."""
    places = (argnums,) if isinstance(argnums, int) else argnums
    return tuple(replaced(old_args, positions(places, len(old_args)), new_args))


def _construct_standard_basis_for(
    tensors: Sequence[Tensor], tensor_numels: Sequence[int]
) -> tuple[Tensor, ...]:
    """Return the unit vectors of all elements, flat for each tensor."""
    (basis,) = _chunked_standard_basis_for_(tensors, tensor_numels)
    return basis


def _chunked_standard_basis_for_(
    tensors: Sequence[Tensor], tensor_numels: Sequence[int], chunk_size: int | None = None
) -> Iterator[tuple[Tensor, ...]]:
    """Yield the unit vectors of all elements, so many at a time, flat for each tensor."""
    for piece in standard_basis(tensors, chunk_size):
        yield tuple(part.flatten(1) for part in piece)


def exposed_in(module: str) -> Callable[[Any], Any]:
    """Say in which module something is shown to live."""

    def shown(fn: Any) -> Any:
        fn.__module__ = module
        return fn

    return shown
