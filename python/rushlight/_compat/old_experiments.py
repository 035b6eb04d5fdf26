"""What the package `functorch` tried out before it was torch's: `functorch.experimental`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._module_aliases import add_module_aliases
from ..func import functionalize, replace_all_batch_norm_modules_, vmap

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["chunk_vmap", "functionalize", "replace_all_batch_norm_modules_"]


def chunk_vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", chunks: int = 2
) -> Callable[..., Any]:
    """Return a function that maps another over samples, in so many parts one after the other.

    >>> import rushlight as torch
    >>> from rushlight._compat.old_experiments import chunk_vmap
    >>> chunk_vmap(torch.sum, chunks=2)(torch.ones(4, 3))
    tensor([3., 3., 3., 3.])
    """
    from ..utils._pytree import tree_flatten

    if chunks == 1:
        return vmap(func, in_dims, out_dims, randomness)

    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = tree_flatten(args)
        given = _dims_of(in_dims, spec)
        count = next(leaf.shape[dim] for leaf, dim in zip(leaves, given, strict=True) if dim is not None)
        size = max(1, -(-count // chunks))
        return vmap(func, in_dims, out_dims, randomness, chunk_size=size)(*args, **kwargs)

    return mapped


def _dims_of(in_dims: Any, spec: Any) -> list[Any]:
    from ..utils._pytree import _broadcast_to_and_flatten

    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(f"in_dims {in_dims} does not have the structure of the arguments")
    return dims


add_module_aliases(
    globals(),
    {
        "control_flow": {"._higher_order_ops": "cond map"},
        "ops": {"._higher_order_ops": "cond map"},
    },
)
