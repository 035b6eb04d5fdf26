"""Tensors without numbers, around whatever their class makes of them: `Tensor._make_wrapper_subclass`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight
from .._rushlight import Tensor, empty, get_default_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["make_wrapper_subclass"]

_REQUIRED = ("cls", "size")
_NAMES = (
    *_REQUIRED,
    "strides",
    "storage_offset",
    "memory_format",
    "dtype",
    "layout",
    "device",
    "pin_memory",
    "requires_grad",
    "dispatch_sizes_strides_policy",
    "dispatch_device",
    "dispatch_layout",
    "_extra_dispatch_keys",
    "storage_size",
)


def make_wrapper_subclass(*args: Any, **kwargs: Any) -> Any:
    """Return a tensor of a class below `Tensor` that has a form but no numbers.

    >>> import rushlight as torch
    >>> class Absent(torch.Tensor):
    ...     @classmethod
    ...     def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
    ...         raise RuntimeError(f"{func} of nothing")
    >>> x = torch.Tensor._make_wrapper_subclass(Absent, (2, 3), dtype=torch.float64)
    >>> x.shape, x.stride(), x.dtype
    (torch.Size([2, 3]), (3, 1), torch.float64)
    >>> x + 1
    Traceback (most recent call last):
    RuntimeError: aten.add.Tensor of nothing
    """
    given = dict(zip(_NAMES, args, strict=False))
    unknown = [name for name in kwargs if name not in _NAMES]
    twice = [name for name in kwargs if name in given]
    given.update(kwargs)
    missing = [name for name in _REQUIRED if name not in given]
    if missing:
        names = ", ".join(f'"{name}"' for name in missing)
        raise TypeError(
            f"_make_wrapper_subclass() missing {len(missing)} required positional arguments: {names}"
        )
    if len(args) > len(_NAMES):
        raise TypeError(
            f"_make_wrapper_subclass() takes from {len(_REQUIRED)} to {len(_NAMES)} positional arguments but "
            f"{len(args)} were given"
        )
    if twice:
        raise TypeError(f"_make_wrapper_subclass() got multiple values for argument '{twice[0]}'")
    if unknown:
        raise TypeError(f"_make_wrapper_subclass() got an unexpected keyword argument '{unknown[0]}'")
    return _made(**given)


def _made(
    cls: Any,
    size: Any,
    strides: Sequence[int] | None = None,
    storage_offset: int | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    dispatch_sizes_strides_policy: str | None = None,
    **_rest: Any,
) -> Any:
    if not isinstance(size, (tuple, list)):
        found = type(size).__name__
        raise TypeError(
            f"_make_wrapper_subclass(): argument 'size' (position 2) must be tuple of ints, not {found}"
        )
    if strides is not None and not isinstance(strides, (tuple, list)):
        found = type(strides).__name__
        raise TypeError(
            f"_make_wrapper_subclass(): argument 'strides' (position 3) must be tuple of ints, not {found}"
        )
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make "
            "sure your class inherits from Tensor."
        )
    if cls.__torch_dispatch__ is Tensor.__torch_dispatch__:
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    if dispatch_sizes_strides_policy not in (None, "strides", "sizes"):
        raise ValueError(
            f"Unknown sizes_strides_policy: {dispatch_sizes_strides_policy}; expected 'strides' or 'sizes'"
        )
    if any(length < 0 for length in size):
        raise RuntimeError("numel: integer multiplication overflow")
    if strides is not None and len(strides) != len(size):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(strides)})"
        )
    if device is not None:
        empty(0, device=device)
    kind = get_default_dtype() if dtype is None else dtype
    if requires_grad and not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    made = _rushlight._make_without_data(
        cls,
        [int(length) for length in size],
        None if strides is None else list(strides),
        storage_offset or 0,
        kind,
    )
    return made.requires_grad_() if requires_grad else made
