"""Pickles of objects with tensors in them, as `save` writes them, and the archives that hold them.

In such a pickle a tensor says which storage it shows and how; the bytes of each storage follow in members of
an archive, or behind the pickle.
"""

from __future__ import annotations

import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import FunctionType
from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor
from .._tensors import storage_classes
from . import checkpoints
from .checkpoints import DTYPES, MAGIC_NUMBER, PIECE, PROTOCOL_VERSION, STORAGES, Storage
from .torch_names import is_own, torch_place

_ARCHIVE = "archive"
_STORAGE_OF = {dtype: STORAGES[name] for name, dtype in DTYPES.items() if name != "UntypedStorage"}
_DIFFERENT = "Cannot save multiple tensors or storages that view the same data as different types"


def has_storage(dtype: native.dtype) -> bool:
    """Return whether torch has a storage that is named for this type, as it has for those of early days."""
    return dtype in _STORAGE_OF


class TensorPickler:
    """What picklers of Python learn of tensors: they are storages and how they are shown.

    Names of the package are written as torch's. Everything a class says of itself comes first.
    """

    def __init__(
        self, file: Any, protocol: int, sizes: dict[int, int], is_first: bool, is_stream: bool
    ) -> None:
        super().__init__(file, protocol)  # type: ignore[call-arg]
        self.sizes = sizes
        self.is_first = is_first
        self.is_stream = is_stream
        # By block of memory: the key of its member, and a tensor that shows it.
        self.storages: dict[int, tuple[str, Tensor]] = {}
        self.dtypes: dict[int, native.dtype] = {}
        # Whether a storage was named before it was known how large it has to be.
        self.has_grown = False

    def persistent_id(self, obj: Any) -> Any:
        """Return what stands for an object that is outside of the pickle."""
        if type(obj) in _DISPATCH:
            return None
        from ..storage import TypedStorage, is_storage

        if is_storage(obj):
            kind = _STORAGE_OF[obj.dtype] if isinstance(obj, TypedStorage) else STORAGES["UntypedStorage"]
            obj = self._storage(obj._shown, kind, obj.size())
        if not isinstance(obj, Storage):
            return None
        identifier = ("storage", type(obj), obj.key, "cpu", obj.size)
        # That it is no part of another storage.
        return (*identifier, None) if self.is_stream else identifier

    def _storage(self, shown: Tensor, kind: type[Storage], needed: int) -> Storage:
        """Return what stands for the memory of a tensor, of which so many elements are needed."""
        block = native._storage_of(shown)[0]
        itemsize = kind.dtype.itemsize
        known = self.sizes.get(block, 0)
        size = self.sizes[block] = max(needed * itemsize, known)
        if block not in self.storages:
            self.storages[block] = (str(len(self.storages)), shown)
        elif size > known:
            self.has_grown = True
        # What has no memory may be of any type.
        if shown.data_ptr() and self.dtypes.setdefault(block, kind.dtype) != kind.dtype:
            raise RuntimeError(_DIFFERENT)
        return kind(self.storages[block][0], size // itemsize)

    def reducer_override(self, obj: Any) -> Any:
        """Return what an object is made anew of, if it is a tensor."""
        if not isinstance(obj, (Tensor, native.layout)) or obj is native.strided:
            return NotImplemented
        from . import pickles

        if isinstance(obj, native.layout):
            return pickles._get_layout, (repr(obj),)
        if pickles.says_itself(obj):
            return NotImplemented
        return pickles.made_of(obj, self._parts)

    def _parts(self, obj: Tensor) -> tuple[Any, ...]:
        """Return what the elements of a tensor are made anew of."""
        if self.is_first:
            from ..utils.hooks import warn_if_has_hooks

            warn_if_has_hooks(obj)
        needed = checkpoints.reach(obj.shape, obj.stride(), obj.storage_offset())
        how: tuple[Any, ...] = (
            obj.storage_offset(),
            tuple(obj.shape),
            obj.stride(),
            obj.requires_grad,
            OrderedDict(),
        )
        if obj.is_conj() or obj.is_neg():
            how += ({bit: True for bit in ("conj", "neg") if getattr(obj, f"is_{bit}")()},)
        if has_storage(obj.dtype):
            return checkpoints._rebuild_tensor_v2, (self._storage(obj, _STORAGE_OF[obj.dtype], needed), *how)
        # No storage is named for this type: it is said beside the bytes.
        storage = self._storage(obj, STORAGES["UntypedStorage"], needed * obj.itemsize)
        return checkpoints._rebuild_tensor_v3, (storage, *how, obj.dtype)

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write the name of a class or a function."""
        from ..serialization import _NAMES

        module, found = _NAMES.get(id(obj), (getattr(obj, "__module__", None), name))
        if found is None:
            found = getattr(obj, "__qualname__", None)
        if isinstance(obj, storage_classes._OfOneType):
            module, found = "torch", obj.__name__
        elif not is_own(module) and id(obj) not in _NAMES:
            super().save_global(obj, name)  # type: ignore[misc]
            return
        place = torch_place(str(module), str(found)) if is_own(module) else module
        self.write(b"c" + f"{place}\n{found}\n".encode())  # type: ignore[attr-defined]
        self.memoize(obj)  # type: ignore[attr-defined]


class _NamingFirst(TensorPickler):
    """What picklers learn that write classes and functions in ways of their own: some have names in files."""

    def save(self, obj: Any, *rest: Any, **options: Any) -> None:
        """Write an object; by its name in files if it has one."""
        from ..serialization import _NAMES

        if id(obj) not in _NAMES:
            super().save(obj, *rest, **options)  # type: ignore[misc]
        elif (known := self.memo.get(id(obj))) is not None:  # type: ignore[attr-defined]
            self.write(self.get(known[0]))  # type: ignore[attr-defined]
        else:
            self.save_global(obj)


# How Python writes what it knows itself. Its own table is one that libraries put theirs into.
_Plain: Any = pickle._Pickler
_DISPATCH: dict[type, Any] = {
    type(None): _Plain.save_none,
    bool: _Plain.save_bool,
    int: _Plain.save_long,
    float: _Plain.save_float,
    bytes: _Plain.save_bytes,
    bytearray: _Plain.save_bytearray,
    pickle.PickleBuffer: _Plain.save_picklebuffer,
    str: _Plain.save_str,
    tuple: _Plain.save_tuple,
    list: _Plain.save_list,
    dict: _Plain.save_dict,
    set: _Plain.save_set,
    frozenset: _Plain.save_frozenset,
    type: _Plain.save_type,
    FunctionType: TensorPickler.save_global,
}


def pickler_of(module: Any) -> type:
    """Return the pickler of a module, that of Python's own in Python, which knows tensors."""
    own = getattr(module, "Pickler", None)
    if isinstance(own, type) and issubclass(own, pickle._Pickler) and own is not pickle._Pickler:
        return type("_Pickler", (_NamingFirst, own), {})
    return type("_Pickler", (TensorPickler, pickle._Pickler), {"dispatch": _DISPATCH})


def _pieces(tensor: Tensor, size: int) -> Iterator[bytes]:
    """Return so many bytes of a tensor's memory, a few at a time: Ctrl-C is heard between them."""
    from . import options as settings

    if settings.save.without_numbers:
        return (bytes(min(PIECE, size - at)) for at in range(0, size, PIECE))
    return (native._bytes_of(tensor, at, min(PIECE, size - at)) for at in range(0, size, PIECE))


class _WriteOnly:
    """A file of which nothing is known but that it can be written to."""

    def __init__(self, file: Any) -> None:
        self.write = file.write
        self.flush = getattr(file, "flush", lambda: None)


class PyTorchFileWriter:
    """An archive of records, whose bytes begin where they can be mapped."""

    def __init__(self, file: Any) -> None:
        place: Any = _WriteOnly(file) if hasattr(file, "write") else file
        self._archive = zipfile.ZipFile(place, "w", zipfile.ZIP_STORED)
        self._written: set[str] = set()

    def write_record(self, name: str, data: Any, size: int) -> None:
        """Write a record: bytes, a storage, or pieces of bytes."""
        from . import options as settings

        if hasattr(data, "untyped"):
            data = _pieces(data.untyped()._shown, size)
        if isinstance(data, str):
            data = data.encode()
        pieces: Iterable[bytes] = [bytes(data[:size])] if isinstance(data, (bytes, bytearray)) else data
        member = zipfile.ZipInfo(f"{_ARCHIVE}/{name}")
        # Members begin on a multiple of this, for whoever maps them.
        start = self._archive.start_dir + 30 + len(member.filename.encode()) + 4
        gap = -start % settings.save.storage_alignment
        member.extra = struct.pack("<2sH", b"FB", gap) + b"Z" * gap
        member.file_size = size
        place = self._archive.open(member, "w")
        try:
            for piece in pieces:
                place.write(piece)
        except BaseException:
            self._give_up(place.close)
            raise
        place.close()
        self._written.add(name)

    def write_record_metadata(self, name: str, size: int) -> None:
        """Write a record of so many bytes, which are zero until somebody writes them."""
        self.write_record(name, (bytes(min(PIECE, size - at)) for at in range(0, size, PIECE)), size)

    def _give_up(self, closing: Callable[[], None]) -> None:
        """Close what cannot be written: what failed first is what is told."""
        with suppress(Exception):
            closing()

    def get_all_written_records(self) -> set[str]:
        """Name what was written."""
        return set(self._written)

    def archive_name(self) -> str:
        """Return the folder that records are in."""
        return _ARCHIVE

    def set_min_version(self, version: int) -> None:
        """Say which version reads the file: each does."""

    def write_end_of_file(self) -> None:
        """Write the version, and what says where the records are."""
        if self._archive.fp is not None:
            self.write_record("version", b"3\n", 2)
            self._archive.close()

    def __enter__(self) -> PyTorchFileWriter:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is None:
            self.write_end_of_file()
            return
        self._give_up(self.write_end_of_file)
        # Or it would be tried again when the archive is freed.
        self._archive.fp = None


def written_out(file: Any) -> None:
    """Have whoever reads the file now find everything that was written to it."""
    if hasattr(file, "flush"):
        file.flush()


def save_archive(
    f: Any, content: bytes, storages: dict[str, tuple[Tensor, int]], without_order: bool
) -> None:
    """Write a pickle and the bytes that it names as members of an archive."""
    with PyTorchFileWriter(f) as archive:
        archive.write_record("data.pkl", content, len(content))
        if not without_order:
            archive.write_record("byteorder", sys.byteorder.encode(), len(sys.byteorder))
        for key, (tensor, size) in storages.items():
            archive.write_record(f"data/{key}", _pieces(tensor, size), size)


def save_stream(
    file: Any,
    content: bytes,
    storages: dict[str, tuple[Tensor, int]],
    dtypes: dict[str, native.dtype],
    protocol: int,
) -> None:
    """Write the parts of the older form one after the other."""
    machine = {
        "protocol_version": PROTOCOL_VERSION,
        "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    for part in (MAGIC_NUMBER, PROTOCOL_VERSION, machine):
        pickle.dump(part, file, protocol)
    file.write(content)
    pickle.dump(sorted(storages), file, protocol)
    for key in sorted(storages):
        size = storages[key][1]
        file.write(struct.pack("<q", size // dtypes[key].itemsize))
        for piece in _pieces(*storages[key]):
            file.write(piece)
