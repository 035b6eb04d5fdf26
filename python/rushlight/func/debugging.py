"""What a tensor is around, while a function that computes with it is transformed."""

from __future__ import annotations

from .. import _rushlight
from .._rushlight import Tensor


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """Return what `tensor` is around, without what transforms put there; one that is plain is itself.

    It is of use for a look at the numbers only. Without `recurse` one layer is taken off.

    >>> import rushlight as torch
    >>> def look(x):
    ...     print(torch.func.debug_unwrap(x))
    ...     return x
    >>> torch.vmap(look)(torch.tensor([1.0, 2.0])).shape
    tensor([1., 2.])
    torch.Size([2])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(
            "is_functorch_wrapped_tensor(): incompatible function arguments. The following argument types "
            f"are supported:\n    1. (arg0: torch.Tensor) -> bool\n\nInvoked with: {tensor!r}"
        )
    if not (_rushlight._is_tracked_inside(tensor) or _rushlight._is_batchedtensor(tensor)):
        return tensor
    if not recurse and _rushlight._is_batchedtensor(tensor) and not _rushlight._is_tracked_inside(tensor):
        return _rushlight._get_unwrapped(tensor)
    while recurse and _rushlight._is_batchedtensor(tensor):
        tensor = _rushlight._get_unwrapped(tensor)
    return _rushlight._bare(tensor)
