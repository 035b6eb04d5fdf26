"""Where tensors are in memory, and marks that are set on them in place."""

from __future__ import annotations

from weakref import ref

from ..._rushlight import Size, Tensor, _memory_of, _neg_view, _storage_of, _whole_memory
from ._called import of_tensor


@of_tensor("int")
def _data_address(tensor: Tensor) -> int:
    """Return where the memory begins that a tensor shows elements of."""
    address: int = tensor.untyped_storage().data_ptr()
    return address


@of_tensor("bool")
def _has_storage(tensor: Tensor) -> bool:
    """Tell whether a tensor has memory, rather than standing for many samples."""
    return _whole_memory(tensor) is not None


@of_tensor("int")
def _storage_id(tensor: Tensor) -> int:
    """Return a number of the memory, which is that of `untyped_storage()._cdata`."""
    return _storage_of(tensor)[0]


@of_tensor("int")
def _storage_address(tensor: Tensor) -> int:
    """Return the same."""
    return _storage_of(tensor)[0]


class _WeakTensorRef:
    """A reference to a tensor that does not keep it.

    >>> import rushlight as torch
    >>> x = torch.ones(2)
    >>> reference = torch._C._WeakTensorRef(x)
    >>> before = reference.expired()
    >>> del x
    >>> before, reference.expired()
    (False, True)
    """

    def __init__(self, tensor: Tensor) -> None:
        # A tensor whose object is watched keeps the object for as long as it lives itself.
        self._tensor = ref(tensor)

    def expired(self) -> bool:
        """Tell whether the tensor is no more, as a gradient of another neither."""
        return self._tensor() is None


def _is_alias_of(one: object, other: object) -> bool:
    """Tell whether two tensors are on the same memory, be it that of different elements."""
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
        return False
    return bool(_memory_of(one)) and _memory_of(one) == _memory_of(other)


def _overlaps(one: object, other: object) -> bool:
    """Tell whether the memory of two tensors has bytes in common."""
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
        return False
    begins = [_memory_of(tensor) for tensor in (one, other)]
    ends = [
        begin + tensor.untyped_storage().nbytes() for begin, tensor in zip(begins, (one, other), strict=True)
    ]
    return bool(max(begins) < min(ends))


def _infer_size(*sizes: Size) -> Size:
    """Return the shape that two shapes broadcast to together."""
    if len(sizes) != 2:
        raise RuntimeError("expected exactly 2 arguments")
    for place, size in enumerate(sizes, start=1):
        if not isinstance(size, Size):
            raise RuntimeError(f"expected a torch.Size as argument {place}")
    one, other = sizes
    rank = max(len(one), len(other))
    pairs = zip(*([1] * (rank - len(size)) + list(size) for size in sizes), strict=True)
    found = []
    for dim, (a, b) in enumerate(pairs):
        if a != b and 1 not in (a, b):
            raise RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton "
                f"dimension {dim}"
            )
        found.append(b if a == 1 else a)
    return Size(found)


def _set_conj(tensor: Tensor, conjugate: bool) -> None:
    """Have a complex tensor show the conjugates of the elements in its memory, or the elements."""
    if tensor.is_conj() != conjugate:
        tensor.data = tensor.data.conj()


def _set_neg(tensor: Tensor, negative: bool) -> None:
    """Have a tensor show the negatives of the elements in its memory, or the elements."""
    if tensor.is_neg() != negative:
        tensor.data = _neg_view(tensor.data)
