"""`save` and `load`: objects with tensors in them, in files that torch reads and writes too.

Such a file is a zip archive: a pickle of the object, in which tensors say which storage they show
and how, and a member for the bytes of each storage. Tensors that share memory share it afterwards.
The older form, one stream of pickles and bytes, is read and written too; `_checkpoints` reads both.
"""

from __future__ import annotations

import codecs
import os
import pickle
import struct
import sys
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from types import FunctionType
from typing import Any

from . import _rushlight as native
from ._files import checkpoints as _checkpoints
from ._files.checkpoints import (
    ARCHIVE_START,
    DTYPES,
    MAGIC_NUMBER,
    PIECE,
    PROTOCOL_VERSION,
    STORAGES,
    Storage,
)
from ._files.refusals import refusal
from ._files.torch_names import is_of_torch, is_own, own_place, torch_place
from ._lazy import on_first_use
from ._rushlight import Tensor
from ._tensors import sharing as _sharing
from ._utils import _rebuild_meta_tensor_no_storage, _rebuild_sparse_tensor
from .utils.hooks import warn_if_has_hooks

__all__ = ["load", "save"]

_ARCHIVE = "archive"
_STORAGE_OF = {dtype: STORAGES[name] for name, dtype in DTYPES.items() if name != "UntypedStorage"}


def has_storage(dtype: native.dtype) -> bool:
    """Return whether torch has a storage that is named for this type, as it has for those of early days."""
    return dtype in _STORAGE_OF


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Tensor:
    """Make the parameter of a tensor."""
    from .nn import Parameter

    return Parameter(data, requires_grad)


# What pickles call by torch's names.
_NAMED: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor_v2"): _checkpoints.rebuild_tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): _checkpoints.rebuild_tensor_v3,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    ("torch._utils", "_rebuild_sparse_tensor"): _rebuild_sparse_tensor,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): _rebuild_meta_tensor_no_storage,
    **{("torch", name): storage for name, storage in STORAGES.items()},
    ("torch.storage", "UntypedStorage"): STORAGES["UntypedStorage"],
}
_NAMES = {id(found): name for name, found in _NAMED.items()}


def _bytearray(*content: Any) -> bytearray:
    """Make a `bytearray`, but not of a number: it would be as long as the file says."""
    if content and isinstance(content[0], int):
        raise pickle.UnpicklingError("a bytearray is made of what is in it")
    return bytearray(*content)


def _encoded(text: str, encoding: str) -> bytes:
    """Return the bytes that a pickle of an older protocol has as text."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes are encoded as latin1, not as {encoding}")
    return codecs.encode(text, encoding)


_SAFE = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("_codecs", "encode"): _encoded,
    **{
        (module, found.__name__): found
        for module in ("builtins", "__builtin__")
        for found in (set, complex, slice)
    },
    ("builtins", "bytearray"): _bytearray,
    ("__builtin__", "bytearray"): _bytearray,
}


class _Pickler(pickle._Pickler):
    """Writes tensors as storages and how they are shown, and names of the package as torch's."""

    dispatch = dict(pickle._Pickler.dispatch)  # noqa: RUF012

    def __init__(
        self, file: Any, protocol: int, sizes: dict[int, int], is_first: bool, is_stream: bool
    ) -> None:
        super().__init__(file, protocol)
        self.sizes = sizes
        self.is_first = is_first
        self.is_stream = is_stream
        # By block of memory: the key of its member, and a tensor that shows it.
        self.storages: dict[int, tuple[str, Tensor]] = {}

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, Storage):
            return None
        identifier = ("storage", type(obj), obj.key, "cpu", obj.size)
        # That it is no part of another storage.
        return (*identifier, None) if self.is_stream else identifier

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, native.layout) and obj is not native.strided:
            from ._files.pickles import _get_layout

            return _get_layout, (repr(obj),)
        if not isinstance(obj, Tensor):
            return NotImplemented
        from .nn import Parameter
        from .nn.parameter import is_lazy

        if is_lazy(obj):
            return NotImplemented  # It says itself what it is made anew of.
        if isinstance(obj, Parameter):
            return _rebuild_parameter, (obj.data, obj.requires_grad, OrderedDict())
        if obj.layout is not native.strided or obj.is_meta:
            return obj.__reduce_ex__(2)
        if self.is_first:
            warn_if_has_hooks(obj)
        block = native._storage_of(obj)[0]
        needed = _checkpoints.reach(obj.shape, obj.stride(), obj.storage_offset())
        size = self.sizes[block] = max(needed, self.sizes.get(block, 0))
        if block not in self.storages:
            self.storages[block] = (str(len(self.storages)), obj)
        if self.storages[block][1].dtype != obj.dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types"
            )
        key = self.storages[block][0]
        how: tuple[Any, ...] = (
            obj.storage_offset(),
            tuple(obj.shape),
            obj.stride(),
            obj.requires_grad,
            OrderedDict(),
        )
        if obj.is_conj() or obj.is_neg():
            how += ({"conj" if obj.is_conj() else "neg": True},)
        if has_storage(obj.dtype):
            return _checkpoints.rebuild_tensor_v2, (_STORAGE_OF[obj.dtype](key, size), *how)
        # No storage is named for this type: it is said beside the bytes.
        storage = STORAGES["UntypedStorage"](key, size * obj.itemsize)
        return _checkpoints.rebuild_tensor_v3, (storage, *how, obj.dtype)

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module, found = _NAMES.get(id(obj), (getattr(obj, "__module__", None), name))
        if found is None:
            found = getattr(obj, "__qualname__", None)
        if not is_own(module) and id(obj) not in _NAMES:
            super().save_global(obj, name)  # type: ignore[misc]
            return
        place = torch_place(str(module), str(found)) if is_own(module) else module
        self.write(b"c" + f"{place}\n{found}\n".encode())  # type: ignore[attr-defined]
        self.memoize(obj)  # type: ignore[attr-defined]

    dispatch[FunctionType] = save_global  # type: ignore[assignment]


def save(
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object and the tensors in it to a file, given by its path or opened for writing.

    >>> import io
    >>> import rushlight as torch
    >>> file = io.BytesIO()
    >>> torch.save({"weight": torch.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'weight': tensor([1., 1.])}
    """
    if isinstance(f, (str, os.PathLike)):
        parent = os.path.dirname(os.fspath(f))
        if parent and not os.path.isdir(parent):
            raise RuntimeError(f"Parent directory {parent} does not exist.")
    elif not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    # A pickle says how large a storage is where it is first met: a run before finds that out.
    sizes: dict[int, int] = {}
    is_stream = not _use_new_zipfile_serialization
    _Pickler(BytesIO(), pickle_protocol, sizes, is_first=True, is_stream=is_stream).dump(obj)
    content = BytesIO()
    pickler = _Pickler(content, pickle_protocol, sizes, is_first=False, is_stream=is_stream)
    pickler.dump(obj)
    storages = {
        key: (tensor, sizes[block] * tensor.element_size())
        for block, (key, tensor) in pickler.storages.items()
    }
    if not is_stream:
        _save_archive(f, content.getvalue(), storages, _disable_byteorder_record)
        return
    counts = {
        key: sizes[block] * (1 if has_storage(tensor.dtype) else tensor.itemsize)
        for block, (key, tensor) in pickler.storages.items()
    }
    if hasattr(f, "write"):
        _save_stream(f, content.getvalue(), storages, counts, pickle_protocol)
        return
    with open(f, "wb") as file:
        _save_stream(file, content.getvalue(), storages, counts, pickle_protocol)


def _pieces(tensor: Tensor, size: int) -> Iterator[bytes]:
    """Return so many bytes of a tensor's memory, a few at a time: Ctrl-C is heard between them."""
    from ._files import options as settings

    if settings.save.without_numbers:
        return (bytes(min(PIECE, size - at)) for at in range(0, size, PIECE))
    return (native._bytes_of(tensor, at, min(PIECE, size - at)) for at in range(0, size, PIECE))


def _save_archive(
    f: Any, content: bytes, storages: dict[str, tuple[Tensor, int]], without_order: bool
) -> None:
    """Write a pickle and the bytes that it names as members of an archive."""
    from ._files import options as settings

    # Members begin on a multiple of this, for whoever maps them.
    alignment = settings.save.storage_alignment
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:

        def add(name: str, content: Iterable[bytes], size: int) -> None:
            member = zipfile.ZipInfo(f"{_ARCHIVE}/{name}")
            gap = -(archive.start_dir + 30 + len(member.filename) + 4) % alignment
            member.extra = struct.pack("<2sH", b"FB", gap) + b"Z" * gap
            member.file_size = size
            with archive.open(member, "w") as place:
                for piece in content:
                    place.write(piece)

        add("data.pkl", [content], len(content))
        if not without_order:
            add("byteorder", [sys.byteorder.encode()], len(sys.byteorder))
        for key, (tensor, size) in storages.items():
            add(f"data/{key}", _pieces(tensor, size), size)
        add("version", [b"3\n"], 2)


def _save_stream(
    file: Any,
    content: bytes,
    storages: dict[str, tuple[Tensor, int]],
    counts: dict[str, int],
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
        file.write(struct.pack("<q", counts[key]))
        for piece in _pieces(*storages[key]):
            file.write(piece)


def _allowed(module: str, name: str) -> Any:
    """Return what a name stands for that `weights_only` allows; `None` of any other."""
    if (module, name) in _NAMED:
        return _NAMED[module, name]
    if (module, name) == ("torch.serialization", "_get_layout"):
        from ._files.pickles import _get_layout

        return _get_layout
    if (module, name) in _SAFE:
        return _SAFE[module, name]
    of_torch = getattr(native, name, None) if module == "torch" else None
    return of_torch if name in ("Size", "device") or isinstance(of_torch, native.dtype) else None


class _Names:
    """What pickles name: the same for both unpicklers."""

    def __init__(self, file: Any, storages: Any, map_location: Any, careful: bool, **options: Any) -> None:
        super().__init__(file, **options)  # type: ignore[call-arg]
        self.storages = storages
        self.map_location = map_location
        self.careful = careful
        self.known: dict[Any, Tensor] = {}

    def persistent_load(self, identifier: Any) -> Any:
        return _checkpoints.identified(identifier, self.storages, self.known, self.map_location, self.careful)

    def find_class(self, module: str, name: str) -> Any:
        is_refused = self.careful and (module, name) == ("torch", "UntypedStorage")
        if not is_refused and (found := _allowed(module, name)) is not None:
            return found
        if self.careful:
            full = f"{module}.{name}"
            raise pickle.UnpicklingError(
                f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use "
                f"`torch.serialization.add_safe_globals([{full}])` or the "
                f"`torch.serialization.safe_globals([{full}])` context manager to allowlist this global if "
                "you trust this class/function."
            )
        if is_of_torch(module):
            try:
                return super().find_class(own_place(module, name), name)  # type: ignore[misc]
            except (ImportError, AttributeError):
                if "torch" not in sys.modules:
                    raise
        return super().find_class(module, name)  # type: ignore[misc]


class _Unpickler(_Names, pickle.Unpickler):
    """Reads what `_Pickler` writes, and whatever else pickles name."""


class _CarefulUnpickler(_Names, _checkpoints.CarefulUnpickler):
    """Reads what `_Pickler` writes of tensors and plain values, and refuses anything else."""


def load(
    f: Any,
    map_location: Callable[..., Any] | Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save` wrote. What was saved on another device is read with `map_location="cpu"`.

    A pickle can run any code when it is read. Unless `weights_only` is false, names of anything but
    tensors, their parts and plain containers are refused, and what a file says of sizes is compared with
    what is in it before memory is made.

    With `mmap` the memory of tensors is that of the file, read as it is needed; writes stay in this process.
    The file has to stay as it is: where another process makes it shorter, the system ends this one (SIGBUS).
    """
    if weights_only is None:
        weights_only = pickle_module is None
    elif weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    is_path = isinstance(f, (str, os.PathLike))
    if not is_path and not hasattr(f, "seek"):
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a file that "
            "is seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it "
            "instead."
        )
    options = {} if weights_only else pickle_load_args
    try:
        if not is_path:
            return _load(f, None, bool(mmap), map_location, weights_only, options)
        with open(f, "rb") as file:
            return _load(file, os.fspath(f), bool(mmap), map_location, weights_only, options)
    except pickle.UnpicklingError as error:
        raise (pickle.UnpicklingError(refusal(str(error))) if weights_only else error) from None


def _load(file: Any, path: Any, mmap: bool, map_location: Any, careful: bool, options: dict[str, Any]) -> Any:
    """Read an object from an open file."""
    begins = file.tell()
    start = file.read(len(ARCHIVE_START))
    if not isinstance(start, bytes):
        raise AssertionError(f"Expected bytes, got {type(start).__name__}")
    file.seek(begins)
    unpickler = _CarefulUnpickler if careful else _Unpickler
    if start == ARCHIVE_START:
        if mmap and path is None:
            raise ValueError("f must be a file path in order to use the mmap argument")
        from ._files import options as settings

        is_shared = settings.load.mmap_flags == settings.MAP_SHARED
        mapped = _sharing.on_file(path, is_shared, os.path.getsize(path)) if mmap else None
        archive = _checkpoints.Archive(file, mapped, settings.assumed_order())
        archive.is_read = not settings.load.without_numbers
        return unpickler(BytesIO(archive.pickle()), archive, map_location, careful, **options).load()
    if mmap:
        name = f"{path}, " if isinstance(path, str) else ""
        raise RuntimeError(
            f"mmap can only be used with files saved with `torch.save({name}"
            "_use_new_zipfile_serialization=True), please torch.save your checkpoint with this option in "
            "order to use mmap."
        )
    stream = _checkpoints.Stream(file)

    def reader() -> Any:
        return unpickler(file, stream, map_location, careful, **options)

    def part() -> Any:
        return reader().load()

    if part() != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    if (version := part()) != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    machine = part()
    if isinstance(machine, dict) and machine.get("little_endian", True) != (sys.byteorder == "little"):
        raise RuntimeError("the file comes from a machine with another order of bytes")
    of_object = reader()
    found = of_object.load()
    stream.fill(part(), of_object.known)
    return found


__getattr__, __dir__ = on_first_use(
    globals(),
    places={
        "._files.options": "INT_SIZE IS_WINDOWS LONG_SIZE LoadEndianness MAP_PRIVATE MAP_SHARED SHORT_SIZE "
        "STORAGE_KEY_SEPARATOR SourceChangeWarning check_module_version_greater_or_equal get_crc32_options "
        "get_default_load_endianness get_default_mmap_options get_unsafe_globals_in_checkpoint "
        "set_crc32_options set_default_load_endianness set_default_mmap_options skip_data",
        "._files.locations": "default_restore_location location_tag register_package",
        "._files.pickles": "_get_layout",
        "._files.safe_globals": "DEFAULT_PROTOCOL FILE_LIKE MAP_LOCATION add_safe_globals clear_safe_globals "
        "get_safe_globals safe_globals",
    },
)
