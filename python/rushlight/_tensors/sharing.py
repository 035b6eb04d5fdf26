"""Memory that others have or see too: buffers of Python objects, other processes, devices."""

from __future__ import annotations

import mmap
import warnings
from typing import Any
from weakref import WeakValueDictionary

from .. import _rushlight as native
from .._rushlight import Tensor
from ..autograd.grad_mode import no_grad

_NOT_WRITABLE = (
    "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can "
    "write to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the "
    "buffer to protect its data or make it writable before converting it to a tensor. This type of warning "
    "will be suppressed for the rest of this program."
)
_warned = False


_SEEN_AS = {
    native.bfloat16: native.int16,
    native.complex32: native.int32,
    native.float8_e4m3fn: native.uint8,
    native.float8_e4m3fnuz: native.uint8,
    native.float8_e5m2: native.uint8,
    native.float8_e5m2fnuz: native.uint8,
    native.float8_e8m0fnu: native.uint8,
}


def frombuffer(
    buffer: Any, *, dtype: native.dtype, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """Return a tensor of one dimension on the memory of an object: `bytearray`, `array.array`, …

    >>> import rushlight as torch
    >>> data = bytearray([1, 0, 2, 0])
    >>> x = torch.frombuffer(data, dtype=torch.int16)
    >>> x[0] = 5
    >>> x, data
    (tensor([5, 2], dtype=torch.int16), bytearray(b'\\x05\\x00\\x02\\x00'))
    """
    if not isinstance(dtype, native.dtype):
        raise TypeError(f"frombuffer(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    try:
        seen = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if not seen.contiguous:
        raise RuntimeError("could not retrieve buffer from object")
    if seen.readonly:
        _warn_once()
    size, length = dtype.itemsize, seen.nbytes
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of "
            f"element size ({size})"
        )
    if count > 0 and offset + count * size > length:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({length} bytes)"
        )
    count = count if count > 0 else (length - offset) // size
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return _on(buffer, dtype, count, offset).requires_grad_(requires_grad)


def lent(obj: Any, dtype: native.dtype) -> Tensor | None:
    """Return a tensor on the memory of an object, if it is one that lends it."""
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=dtype)


def _warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(_NOT_WRITABLE, UserWarning, stacklevel=3)


def _on(buffer: Any, dtype: native.dtype, count: int, offset: int = 0) -> Tensor:
    """Return a tensor on the memory of an object, which it keeps."""
    import numpy

    # Where numpy has no such type, memory is seen as numbers of the same size, and read as what it holds.
    seen = _SEEN_AS.get(dtype, dtype)
    kind = native.empty(0, dtype=seen).numpy().dtype
    array = numpy.frombuffer(buffer, kind, count, offset)
    if array.flags.writeable:
        made = native.from_numpy(array)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = native.from_numpy(array)
    return made if seen is dtype else made.view(dtype)


def on_file(filename: str, shared: bool, size: int, dtype: native.dtype = native.uint8) -> Tensor:
    """Return the first bytes of a file as elements. What is written to a `shared` one goes into the file.

    The file has to stay as long as it is: what is read beyond its end ends the process (SIGBUS).
    """
    if size < 0:
        raise RuntimeError(f"unable to mmap {size} bytes from file <{filename}>: Cannot allocate memory (12)")
    try:
        file = open(filename, "a+b" if shared else "rb")  # noqa: SIM115
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        reason = f"{error.strerror} ({error.errno})"
        raise RuntimeError(f"unable to open file <{filename}> in {mode} mode: {reason}") from None
    with file:
        has = file.seek(0, 2)
        if shared and has < size:
            file.truncate(size)
        elif has < size:
            raise RuntimeError(
                f"file <{filename}> size <{has}> is smaller than the required mapping size <{size}>"
            )
        if size == 0:
            return native.empty(0, dtype=dtype)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        return _on(mmap.mmap(file.fileno(), size, access=access), dtype, size // dtype.itemsize)


# Where memory begins -> the memory, as long as a tensor has it.
_shared: WeakValueDictionary[int, mmap.mmap] = WeakValueDictionary()


def share_memory_(self: Tensor) -> Tensor:
    """Move the elements into memory that processes forked from now on share. Views of it stay where they are.

    >>> import rushlight as torch
    >>> torch.ones(2).share_memory_().is_shared()
    True
    """
    whole = native._whole_memory(self)
    if whole is None or is_shared(self):
        return self
    memory = mmap.mmap(-1, max(1, whole.numel()))
    with no_grad():
        moved = _on(memory, native.uint8, max(1, whole.numel()))[: whole.numel()].copy_(whole)
        self.data = native._on_memory(moved, self.detach())
    _shared[native._memory_of(self)] = memory
    return self


def is_shared(self: Tensor) -> bool:
    """Tell whether the elements lie in memory that forked processes share.

    >>> import rushlight as torch
    >>> torch.ones(2).is_shared()
    False
    """
    return native._memory_of(self) in _shared


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Move the elements into memory that devices reach at once: an error, since there are no devices."""
    raise RuntimeError("Cannot access accelerator device when none is available.")
