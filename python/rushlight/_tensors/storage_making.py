"""What storages of elements are made of: nothing, a size, a sequence, or bytes that there are."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from .. import _rushlight as native
from ..storage import UntypedStorage

__all__ = ["bytes_for"]

_OF_ANY_TYPE = """\
TypedStorage.__init__ received an invalid combination of arguments. Expected one of:
 * (*, torch.device device, torch.dtype dtype)
 * (int size, *, torch.device device, torch.dtype dtype)
 * (Sequence data, *, torch.device device, torch.dtype dtype)
 * (*, UntypedStorage wrap_storage, torch.dtype dtype)"""

_OF_ONE_TYPE = """\
{} received an invalid combination of arguments. Expected one of:
 * no arguments
 * (int size)
 * (Sequence data)
 * (*, UntypedStorage wrap_storage)"""


def bytes_for(args: tuple[Any, ...], wrap_storage: Any, dtype: Any, device: Any, kind: Any) -> UntypedStorage:
    """Return the memory of a storage of elements; `kind` is the class that was called, if it has a type."""
    head = _OF_ANY_TYPE if kind is None else _OF_ONE_TYPE.format(f"{kind}.__new__")
    if wrap_storage is not None:
        if args:
            raise RuntimeError(f"{head}\nNo positional arguments should be given when using 'wrap_storage'")
        if dtype is None:
            raise RuntimeError(f"{head}\nArgument 'dtype' must be specified")
        if not isinstance(dtype, native.dtype):
            raise TypeError(f"{head}\nArgument 'dtype' must be torch.dtype, not {type(dtype)}")
        if device is not None:
            raise RuntimeError(
                f"{head}\nArgument 'device' should not be specified when 'wrap_storage' is given"
            )
        if not isinstance(wrap_storage, UntypedStorage):
            found = type(wrap_storage)
            raise TypeError(f"{head}\nArgument 'wrap_storage' must be UntypedStorage, but got {found}")
        return wrap_storage
    if len(args) > 1:
        raise RuntimeError(f"{head}\nToo many positional arguments")
    if not isinstance(dtype, native.dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    if not args:
        return UntypedStorage(0, device=device)
    (given,) = args
    if hasattr(given, "__index__") and not isinstance(given, native.Tensor):
        return UntypedStorage(index(given) * dtype.itemsize, device=device)
    if not isinstance(given, Sequence):
        raise TypeError(f"{head}\nArgument type not recognized: {type(given)}")
    made: UntypedStorage = native.tensor(given, dtype=dtype, device=device).untyped_storage()
    return made


def only_of_its_type(kind: Any, dtype: Any, device: Any) -> None:
    """Refuse what a class whose elements have a type cannot be told."""
    head = _OF_ONE_TYPE.format(f"{kind}.__new__")
    for name, given in (("dtype", dtype), ("device", device)):
        if given is not None:
            raise RuntimeError(f"{head}\nKeyword argument '{name}' cannot be specified")
