"""The memory behind a tensor as bytes, and as elements of one type.

Both are views: tensors that share memory share what is written through them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from ._once import warn_once
from ._rushlight import Tensor, _is_hollow, _memory_of, _whole_memory, float32, uint8, zeros

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["TypedStorage", "UntypedStorage"]

_DEPRECATED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only "
    "storage class. This should only matter to you if you are using storages directly.  To access "
    "UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
)


class _Storage:
    """What bytes and elements have in common: `_shown` is a tensor of one dimension on all of the memory."""

    _shown: Tensor

    @property
    def device(self) -> Any:
        return self._shown.device

    @property
    def is_cuda(self) -> bool:
        return False

    @property
    def _cdata(self) -> int:
        return _memory_of(self._shown)

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
        from ._sharing import is_shared

        return is_shared(self._shown)

    def resizable(self) -> bool:
        """Tell whether there could be more memory."""
        return True

    def tolist(self) -> list[Any]:
        """Return the elements as numbers."""
        numbers: list[Any] = self._shown.tolist()
        return numbers

    def fill_(self, value: Any) -> Any:
        """Write one value to all elements."""
        self._shown.fill_(value)
        return self

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: int) -> Any:
        return self._shown[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._shown[index] = value

    def _lines(self) -> str:
        return "".join(f" {number}\n" for number in self.tolist())


class UntypedStorage(_Storage):
    """The memory of a tensor as bytes: one object for all tensors that share it.

    >>> import rushlight as torch
    >>> x = torch.zeros(2, 3)
    >>> x.untyped_storage().nbytes(), x[1].untyped_storage() is x.untyped_storage()
    (24, True)
    """

    def __init__(self, size: int = 0, *, device: Any = None) -> None:
        self._shown = zeros(size, dtype=uint8, device=device)

    def clone(self) -> UntypedStorage:
        """Return a copy of the memory."""
        return _untyped(self._shown.clone())

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
        self, *, wrap_storage: UntypedStorage, dtype: Any = float32, _internal: bool = False
    ) -> None:
        if not _internal:
            warn_once(_DEPRECATED)
        self._untyped_storage, self.dtype = wrap_storage, dtype
        self._shown = wrap_storage._shown.view(dtype)

    def untyped(self) -> UntypedStorage:
        """Return the memory as bytes."""
        return self._untyped_storage

    def __repr__(self) -> str:
        head = f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device})"
        return f"{self._lines()}{head} of size {len(self)}]"


_known: WeakValueDictionary[int, UntypedStorage] = WeakValueDictionary()


def _untyped(whole: Tensor) -> UntypedStorage:
    """Return the storage of a tensor of bytes on all of its memory."""
    place = _memory_of(whole)
    found = _known.get(place)
    if found is None:
        found = _known[place] = UntypedStorage.__new__(UntypedStorage)
        found._shown = whole
    return found


def untyped_storage(tensor: Tensor) -> UntypedStorage:
    """Return the memory of a tensor as bytes."""
    whole = _whole_memory(tensor)
    if whole is None:
        raise NotImplementedError("Cannot access storage of BatchedTensorImpl")
    if _is_hollow(tensor):
        absent = _Absent.__new__(_Absent)
        absent._shown = whole
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
    warn_once(_DEPRECATED, stacklevel=4)
    return typed_storage(tensor)


def is_storage(obj: object, /) -> bool:
    """Tell whether an object is the memory of a tensor.

    >>> import rushlight as torch
    >>> torch.is_storage(torch.ones(2).untyped_storage()), torch.is_storage(torch.ones(2))
    (True, False)
    """
    return isinstance(obj, _Storage)
