"""Files of tensors, as `load` reads them: what a file says is checked before memory is made for it.

There are two forms. An archive has the pickle of the object in a member and the bytes of each storage in
another. A stream, the older form, is one pickle after the other, of which the fourth is the object, then the
bytes of all storages. Both come from anywhere: sizes, counts and types are compared with what the file has,
and a failure is an error of the kind that torch raises.
"""

from __future__ import annotations

import os
import pickle
import struct
import warnings
import zipfile
import zlib
from collections import OrderedDict
from io import BufferedIOBase
from sys import byteorder
from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor
from .locations import placed

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
ARCHIVE_START = b"PK\x03\x04"

_CORRUPT = (
    ". This is an internal miniz error. If you are seeing this error, there is a high likelihood that your "
    "checkpoint file is corrupted. This can happen if the checkpoint was not saved properly, was transferred "
    "incorrectly, or the file was modified after saving."
)
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    OverflowError,
    NotImplementedError,
    EOFError,
)
_FIXED = "Trying to resize storage that is not resizable"
# What is packed more densely than this, and comes to more than that, is no checkpoint.
_DENSEST, _HARMLESS = 100, 1 << 24
PIECE = 1 << 20

# torch writes storages without a type as bytes.
DTYPES = {
    "HalfStorage": native.float16,
    "BFloat16Storage": native.bfloat16,
    "FloatStorage": native.float32,
    "DoubleStorage": native.float64,
    "LongStorage": native.int64,
    "IntStorage": native.int32,
    "ShortStorage": native.int16,
    "CharStorage": native.int8,
    "ByteStorage": native.uint8,
    "BoolStorage": native.bool,
    "ComplexFloatStorage": native.complex64,
    "ComplexDoubleStorage": native.complex128,
    "UntypedStorage": native.uint8,
}


class Storage:
    """Memory of elements of one type, as pickles name it: its subclasses stand for the types."""

    dtype: Any

    def __init__(self, key: str = "", size: int = 0) -> None:
        self.key = key
        self.size = size


STORAGES = {name: type(name, (Storage,), {"dtype": dtype}) for name, dtype in DTYPES.items()}


def _elements(storage: Any) -> Tensor:
    """Return a tensor of the elements of a storage."""
    elements: Tensor = storage if isinstance(storage, Tensor) else storage._shown
    return elements


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """Make the tensor that shows a storage in this way."""
    storage = _elements(storage)
    if not isinstance(requires_grad, bool):
        raise RuntimeError("requires_grad must be a bool")
    if metadata is not None and not isinstance(metadata, dict):
        raise AssertionError(f"expected dict, got {type(metadata).__name__}")
    if len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    if storage_offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
    if reach(size, stride, storage_offset) > storage.numel():
        raise RuntimeError(_FIXED)
    # What stands for a storage may be a part of other memory.
    shown = storage.as_strided(size, stride, storage.storage_offset() + storage_offset)
    if metadata and metadata.get("conj"):
        shown = shown.conj()
    if metadata and metadata.get("neg"):
        shown = native._neg_view(shown)
    made: Tensor = shown.data
    made.requires_grad = requires_grad
    return made


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    backward_hooks: Any,
    dtype: native.dtype,
    metadata: Any = None,
) -> Tensor:
    """Make the tensor that shows bytes as elements of a type that no storage is named for."""
    if not isinstance(dtype, native.dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    storage = _elements(storage)
    elements = storage[: storage.numel() // dtype.itemsize * dtype.itemsize].view(dtype)
    how = storage_offset, size, stride, requires_grad, backward_hooks, metadata
    return _rebuild_tensor_v2(elements, *how)


def reach(size: Any, stride: Any, offset: int) -> int:
    """Return how many elements of its memory a tensor needs."""
    if 0 in size:
        return 0
    return int(offset + 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True)))


def _memory(size: int) -> Tensor:
    """Return memory of so many bytes."""
    return native.empty(size, dtype=native.uint8)


def _count(kind: Any, count: Any) -> int:
    """Return how many bytes a storage has by what a pickle says of it."""
    if not (isinstance(kind, type) and issubclass(kind, Storage)):
        raise RuntimeError(f"expected torch.dtype, but got {type(kind)}")
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"the number of elements of a storage is an int, not {type(count).__name__}")
    size = int(count * kind.dtype.itemsize)
    if not 0 <= size < 1 << 63:
        raise TypeError(f"a storage cannot have {count} elements")
    return size


class Archive:
    """Storages that are members of an archive, and the pickle that names them."""

    place = "data/{}"  # Of a storage.

    def __init__(self, file: Any, mapped: Tensor | None = None, order: str = byteorder) -> None:
        self.file, self.mapped = file, mapped
        self.is_read = True
        self.length = file.seek(0, os.SEEK_END)
        try:
            self.members = zipfile.ZipFile(file)
            names = self.members.namelist()
        except (*_DAMAGED, OSError):
            kind = "failed finding central directory" if self.length >= 22 else "not a ZIP archive"
            raise RuntimeError(f"PytorchStreamReader failed reading zip archive: {kind}{_CORRUPT}") from None
        first = names[0] if names else ""
        if "/" not in first:
            raise RuntimeError(
                "[enforce fail at inline_container.cc:180] . file in archive is not in a subdirectory: "
                f"{first}"
            )
        self.prefix = first[: first.index("/")]
        if not self.has("version") and not self.has(".data/version"):
            raise RuntimeError(
                'Expected hasRecord("version") to be true, but got false.  (Could this error message be '
                "improved?  If so, please report an enhancement request to PyTorch.)"
            )
        order = bytes(self.read("byteorder")).decode("latin1") if self.has("byteorder") else order
        if order not in ("little", "big"):
            raise ValueError(f"Unknown endianness type: {order}")
        self.is_swapped = order != byteorder

    def has(self, name: str) -> bool:
        """Tell whether there is a member of this name."""
        return f"{self.prefix}/{name}" in self.members.NameToInfo

    def _member(self, name: str) -> zipfile.ZipInfo:
        """Return what the archive says of a member, if the archive is large enough for it to be true."""
        if not self.has(name):
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found{_CORRUPT}")
        member = self.members.getinfo(f"{self.prefix}/{name}")
        stored, size = member.compress_size, member.file_size
        is_within = member.header_offset + stored <= self.length
        is_plain = member.compress_type == zipfile.ZIP_STORED
        if not is_within or (stored != size if is_plain else size > max(_HARMLESS, _DENSEST * stored)):
            raise self._unreadable(name)
        return member

    def _unreadable(self, name: str) -> RuntimeError:
        return RuntimeError(f"PytorchStreamReader failed reading file {name}: file read failed{_CORRUPT}")

    def read(self, name: str) -> bytes:
        """Return the bytes of a member."""
        member = self._member(name)
        try:
            return self.members.read(member)
        except _DAMAGED:
            raise self._unreadable(name) from None

    def pickle(self) -> bytes:
        """Return the pickle of the object."""
        return self.read("data.pkl")

    def storage(self, kind: Any, key: Any, count: Any) -> Tensor:
        """Return the elements of a storage."""
        name, size = self.place.format(key), _count(kind, count)
        member = self._member(name)
        if member.file_size != size:
            raise RuntimeError(
                f"record size ({member.file_size} bytes) does not match expected size ({size} bytes = {size} "
                "elements * 1 bytes/element) for dtype Byte"
            )
        if not self.is_read:
            return native.zeros(size // kind.dtype.itemsize, dtype=kind.dtype)
        memory = self._mapped(member, kind.dtype.itemsize)
        if memory is None:
            memory = self.copied(name)
        if self.is_swapped:
            memory.untyped_storage().byteswap(kind.dtype)
        return memory.view(kind.dtype)

    def copied(self, name: str) -> Tensor:
        """Return memory of its own with the bytes of a member."""
        member = self._member(name)
        memory, have = _memory(member.file_size), 0
        try:
            with self.members.open(member) as content:
                while piece := content.read(PIECE):
                    native._write_bytes(memory, have, piece)
                    have += len(piece)
        except (*_DAMAGED, IndexError):
            have = -1
        if have != member.file_size:
            raise self._unreadable(name)
        return memory

    def _mapped(self, member: zipfile.ZipInfo, itemsize: int) -> Tensor | None:
        """Return the bytes of a member where they lie in a mapped file, if they can be read there."""
        if self.mapped is None or member.compress_type != zipfile.ZIP_STORED or self.is_swapped:
            return None
        begins = self._begins(member)
        if begins + member.file_size > self.length:
            raise self._unreadable(member.filename)
        return None if begins % itemsize else self.mapped[begins : begins + member.file_size]

    def _begins(self, member: zipfile.ZipInfo) -> int:
        self.file.seek(member.header_offset)
        header = self.file.read(30)
        if len(header) < 30 or not header.startswith(ARCHIVE_START):
            raise self._unreadable(member.filename)
        name, extra = struct.unpack("<HH", header[26:30])
        return member.header_offset + 30 + int(name) + int(extra)

    def begins(self, name: str) -> int:
        """Return where the bytes of a member begin."""
        return self._begins(self._member(name))


class Stream:
    """Storages whose bytes follow the pickle that names them: memory is made then, and filled at the end."""

    def __init__(self, file: Any) -> None:
        self.file = file
        at = file.tell()
        self.left = file.seek(0, os.SEEK_END) - at
        file.seek(at)

    def storage(self, kind: Any, key: Any, count: Any) -> Tensor:
        """Return the elements of a storage, which are read later."""
        size = _count(kind, count)
        if size > self.left:
            raise _cut(size - self.left)
        self.left -= size
        return _memory(size).view(kind.dtype)

    def fill(self, keys: Any, known: dict[Any, Tensor]) -> None:
        """Read the bytes of all storages that the pickle has named, in this order."""
        if not isinstance(keys, list):
            raise AssertionError(f"expected a list of storages, got {type(keys).__name__}")
        for key in keys:
            if key not in known:
                raise AssertionError(f"storage key {key!r} not found in deserialized_objects")
            memory = known[key]
            counted = self.file.read(8)
            if len(counted) < 8:
                raise _cut(8 - len(counted))
            (count,), size = struct.unpack("<q", counted), memory.nbytes
            # Elements or bytes: pickles say which, files do not.
            if size not in [count * itemsize for itemsize in (1, 2, 4, 8, 16)]:
                raise RuntimeError(f"size mismatch: a storage of {size} bytes cannot have {count} elements")
            bytes_of, have = memory.view(native.uint8), 0
            while have < size:
                piece = self._piece(min(PIECE, size - have))
                if not piece:
                    raise _cut(size - have)
                if not memory.is_meta:
                    native._write_bytes(bytes_of, have, piece)
                have += len(piece)

    def _piece(self, size: int) -> bytes:
        """Return the next bytes of the file, at most so many."""
        # Files of Python's own have nothing to do for bytes of their own.
        if isinstance(self.file, BufferedIOBase) or not hasattr(self.file, "readinto"):
            found: bytes = self.file.read(size)
            return found
        room = bytearray(size)
        count = self.file.readinto(room)
        return bytes(memoryview(room)[:count])


def _cut(missing: int) -> RuntimeError:
    return RuntimeError(f"unexpected EOF, expected {missing} more bytes. The file might be corrupted.")


def identified(
    identifier: Any, storages: Archive | Stream, known: dict[Any, Tensor], map_location: Any, careful: bool
) -> Any:
    """Return what a pickle names as something outside of it."""
    if careful and not isinstance(identifier, (tuple, int)):
        raise pickle.UnpicklingError(f"persistent_load id must be tuple or int, but got {type(identifier)}")
    if not isinstance(identifier, tuple):
        raise AssertionError(f"saved_id must be a tuple, got {type(identifier).__name__}")
    what = identifier[0].decode("ascii") if isinstance(identifier[0], bytes) else identifier[0]
    if what == "module" and isinstance(storages, Stream) and not careful:
        # A class, with what its source was.
        return identifier[1]
    if what != "storage":
        if careful:
            raise pickle.UnpicklingError(
                f"Only persistent_load of storage is allowed, but got {type(identifier[0])}"
            )
        raise AssertionError(f"Unknown typename for persistent_load, expected 'storage' but got '{what}'")
    part = None
    if isinstance(storages, Stream) and len(identifier) == 6:
        *identifier, part = identifier
    kind, key, location, count = identifier[1:]
    if key not in known:
        known[key] = placed(storages.storage(kind, key, count), location, map_location)
    if part is None:
        return known[key]
    name, offset, length = part
    if name not in known:
        if not 0 <= offset <= offset + length <= known[key].numel():
            raise RuntimeError(_FIXED)
        known[name] = known[key][offset : offset + length]
    return known[name]


# Classes and functions that files may name though they are read carefully, by module and name: what
# `add_safe_globals` was given.
ADDED: dict[tuple[str, str], Any] = {}


class _Operations(dict[int, Any]):
    """What a pickle can say, by the first byte of it."""

    def __missing__(self, operation: int) -> Any:
        raise pickle.UnpicklingError(f"Unsupported operand {operation}")


class CarefulUnpickler(pickle._Unpickler):
    """Reads a pickle of tensors and plain values. In Python, since it is this that decides what is done."""

    # Neither instances of classes by other ways than calls, nor what is registered elsewhere, what is written
    # as text, memory of a size that a number says, and what later protocols can say.
    dispatch = _Operations(
        (operation[0], pickle._Unpickler.dispatch[operation[0]])
        for operation in (
            *(pickle.PROTO, pickle.STOP, pickle.MARK, pickle.GLOBAL, pickle.NEWOBJ, pickle.REDUCE),
            *(pickle.NONE, pickle.NEWFALSE, pickle.NEWTRUE, pickle.BINFLOAT, pickle.LONG1),
            *(pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.BINUNICODE, pickle.SHORT_BINSTRING),
            *(pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3),
            *(pickle.EMPTY_LIST, pickle.APPEND, pickle.APPENDS, pickle.EMPTY_SET),
            *(pickle.EMPTY_DICT, pickle.SETITEM, pickle.SETITEMS, pickle.BINPERSID),
            *(pickle.BINGET, pickle.LONG_BINGET, pickle.BINPUT, pickle.LONG_BINPUT),
        )
    )

    def load_proto(self) -> None:
        """Read which protocol was written."""
        protocol = self.read(1)[0]  # type: ignore[attr-defined]
        if protocol != 2:
            warnings.warn(
                f"Detected pickle protocol {protocol} in the checkpoint, which was not the default pickle "
                "protocol used by `torch.load` (2). The weights_only Unpickler might not support all "
                "instructions implemented by this protocol, please file an issue for adding support if you "
                "encounter this.",
                stacklevel=5,
            )

    dispatch[pickle.PROTO[0]] = load_proto

    def load_build(self) -> None:
        """Give an object its attributes: that may change what classes and functions are."""
        if any(type(self.stack[-2]) is added for added in ADDED.values()):  # type: ignore[attr-defined]
            super().load_build()  # type: ignore[misc]
            return
        state = self.stack.pop()  # type: ignore[attr-defined]
        made = self.stack[-1]  # type: ignore[attr-defined]
        if type(made) is not OrderedDict or not isinstance(state, dict):
            raise pickle.UnpicklingError(
                f"Can only build Tensor, Parameter, OrderedDict, but got {type(made)}"
            )
        made.__dict__.update(state)

    dispatch[pickle.BUILD[0]] = load_build
