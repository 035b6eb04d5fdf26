"""The memory behind a tensor as bytes, and as elements of one type.

Both are views: tensors that share memory share what is written through them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from sys import byteorder
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from . import _rushlight as native
from ._lazy import on_first_use
from ._rushlight import (
    Tensor,
    _has_no_data,
    _is_memory_resizable,
    _resize_memory,
    _storage_of,
    _whole_memory,
    uint8,
    zeros,
)
from ._tensors.storage_warning import (
    _get_always_warn_typed_storage_removal as _get_always_warn_typed_storage_removal,
)
from ._tensors.storage_warning import _reset_warn_typed_storage_removal as _reset_warn_typed_storage_removal
from ._tensors.storage_warning import (
    _set_always_warn_typed_storage_removal as _set_always_warn_typed_storage_removal,
)
from ._tensors.storage_warning import _warn_typed_storage_removal

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["TypedStorage", "UntypedStorage"]

_FIXED = "Trying to resize storage that is not resizable"
_NEGATIVE = (
    "[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have been called with "
    "negative number: {}"
)


class _Storage:
    """What bytes and elements have in common: `_shown` is a tensor of one dimension on all of the memory."""

    is_cuda = is_hpu = is_sparse = is_sparse_csr = False

    @property
    def _shown(self) -> Tensor:
        raise NotImplementedError

    @property
    def device(self) -> Any:
        return self._shown.device

    @property
    def _cdata(self) -> int:
        return _storage_of(self._shown)[0]

    def data_ptr(self) -> int:
        """Return where the memory begins; 0 if there is none."""
        return self._shown.data_ptr()

    def nbytes(self) -> int:
        """Return how many bytes there are."""
        return self._shown.nbytes

    def size(self) -> int:
        """Return how many elements there are."""
        return self._shown.numel()

    def element_size(self) -> int:
        """Return how many bytes an element has."""
        return self._shown.element_size()

    def is_shared(self) -> bool:
        """Tell whether processes that are forked from now on share the memory."""
        from ._tensors.sharing import is_shared

        return is_shared(self._shown)

    def tolist(self) -> list[Any]:
        """Return the elements as numbers."""
        numbers: list[Any] = self._shown.tolist()
        return numbers

    def fill_(self, value: Any) -> Any:
        """Write one value to all elements."""
        self._shown.fill_(value)
        return self

    def copy_(self, source: _Storage, non_blocking: bool | None = None) -> Self:
        """Write what is in another storage of the same size."""
        if not isinstance(source, _Storage):
            found = type(source).__name__
            raise TypeError(f"copy_(): argument 'src' (position 1) must be torch.Storage, not {found}")
        if source.nbytes() != self.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        self._shown.copy_(source._shown)
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """Tell whether devices reach the memory at once: there are none."""
        return False

    def __copy__(self) -> Any:
        return self.clone()  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: int) -> Any:
        return self._shown[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._shown[index] = value

    def _lines(self) -> str:
        return " \n" if not len(self) else "".join(f" {number}\n" for number in self.tolist())


# What torch names it by.
Storage = StorageBase = _Storage


class UntypedStorage(_Storage):
    """The memory of a tensor as bytes: one object for all tensors that share it.

    >>> import rushlight as torch
    >>> x = torch.zeros(2, 3)
    >>> x.untyped_storage().nbytes(), x[1].untyped_storage() is x.untyped_storage()
    (24, True)
    """

    # A tensor of bytes that is on the memory, or, of a part of other memory, is what there is of it.
    _memory: Tensor
    _is_part = False

    @property
    def _shown(self) -> Tensor:
        whole = None if self._is_part else _whole_memory(self._memory)
        return self._memory if whole is None else whole

    def __init__(self, size: int | Sequence[int] = 0, *, allocator: Any = None, device: Any = None) -> None:
        if isinstance(size, int) and size < 0:
            raise RuntimeError(_NEGATIVE.format(size % 2**64))
        self._memory = zeros(size, dtype=uint8, device=device) if isinstance(size, int) else _bytes(size)
        _known[_storage_of(self._memory)[0]] = self

    @classmethod
    def from_buffer(
        cls,
        buffer: Any,
        byte_order: str | None = None,
        count: int = -1,
        offset: int = 0,
        dtype: native.dtype | None = None,
    ) -> UntypedStorage:
        """Return a copy of the memory of an object, whose elements have their bytes in a certain order.

        >>> import rushlight as torch
        >>> torch.UntypedStorage.from_buffer(bytes([0, 1]), "big", dtype=torch.int16).tolist()
        [1, 0]
        """
        if dtype is None:
            raise RuntimeError("argument 'dtype' cannot be None")
        if byte_order is None and dtype is not uint8:
            raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        if byte_order not in (None, "big", "little", "native"):
            raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
        try:
            given = memoryview(buffer).cast("B")[offset:]
        except TypeError:
            found = type(buffer).__name__
            raise TypeError(f"a bytes-like object is required, not '{found}'") from None
        size = dtype.itemsize
        if count < 0 and len(given) % size:
            raise ValueError(f"buffer size ({len(given)}) must be a multiple of element size ({size})")
        if count * size > len(given):
            raise ValueError(
                f"buffer has only {len(given)} elements after offset {offset}, but specified a size of "
                f"{count}"
            )
        made = cls(list(given[: count * size] if count >= 0 else given))
        if byte_order not in (None, "native", byteorder):
            made.byteswap(dtype)
        return made

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """Return so many bytes of a file, to which writes go on if it is `shared`."""
        from ._tensors.sharing import on_file

        made = cls.__new__(cls)
        made._memory = on_file(filename, shared, nbytes)
        _known[_storage_of(made._memory)[0]] = made
        return made

    def resizable(self) -> bool:
        """Tell whether there could be more memory."""
        return not self._is_part and _is_memory_resizable(self._memory)

    def resize_(self, size: int) -> None:
        """Have so many bytes, for all tensors that are on the memory. New ones are zero.

        Tensors keep their shapes, whether or not there are as many: what is beyond must not be read.

        >>> import rushlight as torch
        >>> x = torch.ones(2)
        >>> x.untyped_storage().resize_(0)
        >>> x.untyped_storage().nbytes(), x.shape
        (0, torch.Size([2]))
        >>> x.untyped_storage().resize_(8)
        >>> x.fill_(3)
        tensor([3., 3.])
        """
        if not isinstance(size, int):
            raise RuntimeError(f"resize_ expects an int, but got {type(size).__name__}")
        if size < 0:
            raise RuntimeError(_NEGATIVE.format(size % 2**64))
        if not self.resizable():
            raise RuntimeError(_FIXED)
        _resize_memory(self._memory, size)

    def byteswap(self, dtype: native.dtype) -> None:
        """Turn the order of the bytes of every element around."""
        size = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        if self.size() % size:
            raise RuntimeError(f"the length of data is not a multiple of {size}")
        elements = self._shown.view(-1, size)
        elements.copy_(elements.flip(1))

    def clone(self) -> UntypedStorage:
        """Return a copy of the memory."""
        return _untyped(self._shown.clone())

    def new(self) -> UntypedStorage:
        """Return a storage without memory."""
        return type(self)()

    def to(self, *, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """Return the memory on a device, which the processor has already."""
        return self if native.device(device).type == "cpu" else _untyped(self._shown.to(device))

    def untyped(self) -> UntypedStorage:
        """Return the memory as bytes, which it is."""
        return self

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise RuntimeError(
                    f"Trying to slice with a step of {index.step}, but only a step of 1 is supported"
                )
            return _part(self._shown[index])
        if not isinstance(index, int):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}")
        if not -self.size() <= index < self.size():
            raise IndexError(f"index {index} out of range for storage of size {self.size()}")
        return self._shown[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, int):
            found = type(value).__name__
            raise RuntimeError(f"can only set storage content with a int types, but got {found} instead")
        if isinstance(index, int) and not -self.size() <= index < self.size():
            raise RuntimeError("out of bounds")
        self._shown[index] = value % 256

    def cpu(self) -> UntypedStorage:
        """Return the memory, which the processor has already."""
        return self

    def type(self) -> str:
        """Return the name of the class."""
        return "torch.storage.UntypedStorage"

    def __repr__(self) -> str:
        return f"{self._lines()}[{self.type()}(device={self.device}) of size {len(self)}]"


class TypedStorage(_Storage):
    """The memory of a tensor as elements of its type. It is deprecated: bytes are all that there is.

    >>> import rushlight as torch
    >>> storage = torch.tensor([1.0, 2.0])._typed_storage()
    >>> storage.tolist(), storage.dtype
    ([1.0, 2.0], torch.float32)
    """

    def __init__(
        self,
        *args: Any,
        device: Any = None,
        dtype: Any = None,
        wrap_storage: UntypedStorage | None = None,
        _internal: bool = False,
        _kind: Any = None,
    ) -> None:
        if not _internal:
            _warn_typed_storage_removal()
        if wrap_storage is None and dtype is None:
            dtype = native.get_default_dtype()
        if not _internal or wrap_storage is None:
            from ._tensors.storage_making import bytes_for

            wrap_storage = bytes_for(args, wrap_storage, dtype, device, _kind)
        self._untyped_storage, self.dtype = wrap_storage, dtype

    @property
    def _shown(self) -> Tensor:
        shown = self._untyped_storage._shown
        return shown[: len(shown) // self.dtype.itemsize * self.dtype.itemsize].view(self.dtype)

    def clone(self) -> TypedStorage:
        """Return a copy of the memory."""
        return typed_storage(self._shown.clone())

    def copy_(self, source: _Storage, non_blocking: bool | None = None) -> Self:
        """Write the elements of another storage with as many, converted."""
        self._shown.copy_(source._shown)
        return self

    def resizable(self) -> bool:
        """Tell whether there could be more memory."""
        return self._untyped_storage.resizable()

    def resize_(self, size: int) -> None:
        """Have so many elements, as far as the memory can."""
        self._untyped_storage.resize_(size * self.element_size())

    def untyped(self) -> UntypedStorage:
        """Return the memory as bytes."""
        return self._untyped_storage

    def __repr__(self) -> str:
        head = f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device})"
        return f"{self._lines()}{head} of size {len(self)}]"


_CONVERSIONS = {
    **{name: name for name in ("bfloat16", "bool", "double", "float", "half", "int", "long", "short")},
    "byte": "uint8",
    "char": "int8",
    "complex_float": "complex64",
    "complex_double": "complex128",
}


def _conversion(name: str) -> Callable[[_Storage], TypedStorage]:
    def convert(self: _Storage) -> TypedStorage:
        dtype = getattr(native, _CONVERSIONS[name])
        return self if getattr(self, "dtype", None) is dtype else typed_storage(self._shown.to(dtype))  # type: ignore[return-value]

    convert.__name__, convert.__doc__ = name, f"Return the elements as numbers of type {name}."
    return convert


for _name in _CONVERSIONS:
    setattr(_Storage, _name, _conversion(_name))


_known: WeakValueDictionary[int, UntypedStorage] = WeakValueDictionary()


def _bytes(numbers: Sequence[int]) -> Tensor:
    """Return a tensor of the last eight bits of numbers."""
    for number in numbers:
        if not isinstance(number, int):
            raise RuntimeError(
                "torch.UntypedStorage(): tried to construct a storage from a sequence "
                f"({type(numbers).__name__}), but one of the items was of type {type(number).__name__} "
                "instead of int"
            )
    return native.tensor([number % 256 for number in numbers], dtype=uint8)


def _untyped(whole: Tensor) -> UntypedStorage:
    """Return the storage of a tensor of bytes on all of its memory."""
    place = _storage_of(whole)[0]
    found = _known.get(place)
    if found is None:
        found = _known[place] = UntypedStorage.__new__(UntypedStorage)
        found._memory = whole
    return found


def _part(shown: Tensor) -> UntypedStorage:
    """Return a storage of bytes that a tensor shows of other memory, as many as there will be."""
    part = UntypedStorage.__new__(UntypedStorage)
    part._memory, part._is_part = shown, True
    return part


def storage_of_all(tensor: Tensor) -> UntypedStorage:
    """Return the bytes that a tensor of one dimension shows, as all that there are."""
    shown, whole = tensor.view(uint8), _whole_memory(tensor)
    return _part(shown) if whole is None or whole.nbytes != shown.nbytes else _untyped(whole)


def untyped_storage(tensor: Tensor) -> UntypedStorage:
    """Return the memory of a tensor as bytes."""
    whole = _whole_memory(tensor)
    if whole is None:
        raise NotImplementedError("Cannot access storage of BatchedTensorImpl")
    if _has_no_data(tensor):
        absent = _Absent.__new__(_Absent)
        absent._memory, absent._is_part = whole, True
        return absent
    return _untyped(whole)


class _Absent(UntypedStorage):
    """The memory that a tensor without numbers would have."""

    def data_ptr(self) -> int:
        raise RuntimeError("Attempted to access the data pointer on an invalid python storage.")


def typed_storage(tensor: Tensor) -> TypedStorage:
    """Return the memory of a tensor as elements of its type."""
    return TypedStorage(wrap_storage=untyped_storage(tensor), dtype=tensor.dtype, _internal=True)


def deprecated_storage(tensor: Tensor) -> TypedStorage:
    """Return the memory of a tensor as elements of its type, with a warning."""
    _warn_typed_storage_removal(3)
    return typed_storage(tensor)


def is_storage(obj: object, /) -> bool:
    """Tell whether an object is the memory of a tensor.

    >>> import rushlight as torch
    >>> torch.is_storage(torch.ones(2).untyped_storage()), torch.is_storage(torch.ones(2))
    (True, False)
    """
    return isinstance(obj, _Storage)


__getattr__, __dir__ = on_first_use(globals(), places={"._files.pickles": "_load_from_bytes"})
