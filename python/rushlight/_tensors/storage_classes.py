"""Storages of one type of elements each, as programs named them once: `FloatStorage` and its like."""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native
from ..storage import TypedStorage, UntypedStorage
from .storage_making import only_of_its_type
from .storage_warning import _warn_typed_storage_removal

__all__ = [
    "BFloat16Storage",
    "BoolStorage",
    "ByteStorage",
    "CharStorage",
    "ComplexDoubleStorage",
    "ComplexFloatStorage",
    "DoubleStorage",
    "FloatStorage",
    "HalfStorage",
    "IntStorage",
    "LongStorage",
    "ShortStorage",
    "Storage",
]


class _OfOneType(type):
    """What they make are typed storages, and those of their type are their instances."""

    dtype: native.dtype

    def __call__(
        cls, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None, **hidden: Any
    ) -> TypedStorage:
        only_of_its_type(cls, dtype, device)
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype, _kind=cls, **hidden)

    def from_file(cls, filename: str, shared: bool, size: int) -> TypedStorage:
        """Return so many elements of a file, to which writes go on if it is `shared`."""
        memory = UntypedStorage.from_file(filename, shared, size * cls.dtype.itemsize)
        return TypedStorage(wrap_storage=memory, dtype=cls.dtype, _internal=True)

    @property
    def _dtype(cls) -> native.dtype:
        return cls.dtype

    def from_buffer(cls, *args: Any, dtype: Any = None, device: Any = None, **order: Any) -> TypedStorage:
        """Return a copy of the memory of an object as elements, with the warning that they are deprecated."""
        _warn_typed_storage_removal()
        return cls._from_buffer(*args, dtype=dtype, device=device, **order)

    def _from_buffer(cls, *args: Any, dtype: Any = None, device: Any = None, **order: Any) -> TypedStorage:
        # The fifth argument would be the type, as that of bytes.
        for name, given in (("dtype", dtype is not None or len(args) == 5), ("device", device is not None)):
            if given:
                raise RuntimeError(
                    f"from_buffer: '{name}' can only be specified in UntypedStorage.from_buffer and "
                    "TypedStorage.from_buffer"
                )
        memory = UntypedStorage.from_buffer(*args, **{**order, "dtype": cls.dtype})
        return TypedStorage(wrap_storage=memory, dtype=cls.dtype, _internal=True)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype


def _made(name: str, dtype: native.dtype) -> _OfOneType:
    return _OfOneType(name, (), {"dtype": dtype, "__module__": "torch", "__doc__": f"Elements of {dtype}."})


BFloat16Storage = _made("BFloat16Storage", native.bfloat16)
BoolStorage = _made("BoolStorage", native.bool)
ByteStorage = _made("ByteStorage", native.uint8)
CharStorage = _made("CharStorage", native.int8)
ComplexDoubleStorage = _made("ComplexDoubleStorage", native.complex128)
ComplexFloatStorage = _made("ComplexFloatStorage", native.complex64)
DoubleStorage = _made("DoubleStorage", native.float64)
FloatStorage = _made("FloatStorage", native.float32)
HalfStorage = _made("HalfStorage", native.float16)
IntStorage = _made("IntStorage", native.int32)
LongStorage = _made("LongStorage", native.int64)
ShortStorage = _made("ShortStorage", native.int16)

# Named without a type, it is of the type that tensors have unless told otherwise.
Storage = FloatStorage
