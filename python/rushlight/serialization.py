"""`save` and `load`: objects with tensors in them, in files that torch reads and writes too.

Such a file is a zip archive: a pickle of the object, in which tensors say which storage they show
and how, and a member for the bytes of each storage. Tensors that share memory share it afterwards.
The older form, one stream of pickles and bytes, is read and written too; `_checkpoints` reads both.
"""

from __future__ import annotations

import codecs
import os
import pickle
import sys
import warnings
from collections import Counter, OrderedDict
from collections.abc import Callable
from io import BytesIO
from typing import Any

from . import _rushlight as native
from ._files import checkpoints as _checkpoints
from ._files import pickles as _pickles
from ._files.checkpoints import ARCHIVE_START, MAGIC_NUMBER, PROTOCOL_VERSION, STORAGES
from ._files.refusals import refusal
from ._files.torch_names import is_of_torch, own_place
from ._files.writing import pickler_of, save_archive, save_stream, written_out
from ._lazy import on_first_use
from ._rushlight import Tensor
from ._tensors import sharing as _sharing
from ._utils import (
    _rebuild_meta_tensor_no_storage,
    _rebuild_sparse_tensor,
    _validate_loaded_sparse_tensors,
)

__all__ = ["load", "save"]

# What pickles call by torch's names.
_NAMED: dict[tuple[str, str], Any] = {
    ("torch", "Tensor"): Tensor,
    ("torch._tensor", "_rebuild_from_type_v2"): _pickles._rebuild_from_type_v2,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): _rebuild_meta_tensor_no_storage,
    ("torch._utils", "_rebuild_parameter"): _pickles._rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _pickles._rebuild_parameter_with_state,
    ("torch._utils", "_rebuild_sparse_tensor"): _rebuild_sparse_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _checkpoints._rebuild_tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): _checkpoints._rebuild_tensor_v3,
    ("torch._utils", "_rebuild_wrapper_subclass"): _pickles._rebuild_wrapper_subclass,
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
    kind = pickler_of(pickle_module)
    sizes: dict[int, int] = {}
    is_stream = not _use_new_zipfile_serialization
    content = BytesIO()
    pickler = kind(content, pickle_protocol, sizes, is_first=True, is_stream=is_stream)
    pickler.dump(obj)
    if pickler.has_grown:
        # A pickle says how large a storage is where it is first met: now that is known.
        content = BytesIO()
        pickler = kind(content, pickle_protocol, sizes, is_first=False, is_stream=is_stream)
        pickler.dump(obj)
    storages = {key: (tensor, sizes[block]) for block, (key, tensor) in pickler.storages.items()}
    if not is_stream:
        save_archive(f, content.getvalue(), storages, _disable_byteorder_record)
        return
    dtypes = {key: pickler.dtypes.get(block, native.uint8) for block, (key, _) in pickler.storages.items()}
    if hasattr(f, "write"):
        save_stream(f, content.getvalue(), storages, dtypes, pickle_protocol)
        written_out(f)
        return
    with open(f, "wb") as file:
        save_stream(file, content.getvalue(), storages, dtypes, pickle_protocol)


def _allowed(module: str, name: str) -> Any:
    """Return what a name stands for that `weights_only` allows; `None` of any other."""
    if (module, name) in _NAMED:
        return _NAMED[module, name]
    if (module, name) == ("torch.serialization", "_get_layout"):
        return _pickles._get_layout
    if (module, name) in _SAFE:
        return _SAFE[module, name]
    of_torch = getattr(native, name, None) if module == "torch" else None
    return of_torch if name in ("Size", "device") or isinstance(of_torch, native.dtype) else None


def _loaded(elements: Tensor, kind: Any) -> Any:
    """Return the storage of a kind whose elements these are."""
    from .storage import TypedStorage, storage_of_all

    untyped = storage_of_all(elements)
    if kind is STORAGES["UntypedStorage"]:
        return untyped
    return TypedStorage(wrap_storage=untyped, dtype=kind.dtype, _internal=True)


class _Names:
    """What pickles name: the same for both unpicklers."""

    def __init__(self, file: Any, storages: Any, map_location: Any, careful: bool, **options: Any) -> None:
        super().__init__(file, **options)  # type: ignore[call-arg]
        self.storages = storages
        self.map_location = map_location
        self.careful = careful
        self.known: dict[Any, Tensor] = {}
        self.shown: dict[Any, Any] = {}  # The storages of what is known.

    def persistent_load(self, identifier: Any) -> Any:
        found = _checkpoints.identified(
            identifier, self.storages, self.known, self.map_location, self.careful
        )
        if not isinstance(found, Tensor) or found.is_meta:
            return found
        key = id(found), identifier[1]
        if key not in self.shown:
            self.shown[key] = _loaded(found, identifier[1])
        return self.shown[key]

    def find_class(self, module: str, name: str) -> Any:
        is_refused = self.careful and (module, name) == ("torch", "UntypedStorage")
        if not is_refused and (found := _allowed(module, name)) is not None:
            return found
        if self.careful:
            full = name if module in ("builtins", "__builtin__") else f"{module}.{name}"
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
    if weights_only and pickle_load_args:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    options = {"encoding": "utf-8", **pickle_load_args}
    unpickler: Any = _CarefulUnpickler if weights_only else _Unpickler
    if pickle_module not in (None, pickle):
        unpickler = type("_Unpickler", (_Names, pickle_module.Unpickler), {})
    how = bool(mmap), map_location, unpickler, options
    try:
        if not is_path:
            found = _load(f, None, *how)
        else:
            with open(f, "rb") as file:
                found = _load(file, os.fspath(f), *how)
        _validate_loaded_sparse_tensors()
        return found
    except pickle.UnpicklingError as error:
        raise (pickle.UnpicklingError(refusal(str(error))) if weights_only else error) from None


def _load(
    file: Any, path: Any, mmap: bool, map_location: Any, unpickler: Any, options: dict[str, Any]
) -> Any:
    """Read an object from an open file."""
    careful = unpickler is _CarefulUnpickler
    begins = file.tell()
    start = file.read(len(ARCHIVE_START))
    if not isinstance(start, bytes):
        raise AssertionError(f"Expected bytes, got {type(start).__name__}")
    file.seek(begins)
    if start == ARCHIVE_START:
        if mmap and path is None:
            raise ValueError("f must be a file path in order to use the mmap argument")
        from ._files import options as settings
        from ._files.archives import readable

        is_shared = settings.load.mmap_flags == settings.MAP_SHARED
        mapped = _sharing.on_file(path, is_shared, os.path.getsize(path)) if mmap else None
        archive = _checkpoints.Archive(readable(file), mapped, settings.assumed_order())
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
        "._files.archives": "_is_zipfile _open_file_like _open_zipfile_reader _open_zipfile_writer",
        "._files.locations": "default_restore_location location_tag register_package",
        "._files.pickles": "_get_layout",
        "._files.safe_globals": "DEFAULT_PROTOCOL FILE_LIKE MAP_LOCATION add_safe_globals clear_safe_globals "
        "get_safe_globals safe_globals",
    },
)


def normalize_storage_type(storage_type: type) -> type:
    """Return the class of storages by which one of another device is known here.

    >>> import rushlight as torch
    >>> torch.serialization.normalize_storage_type(torch.FloatStorage) is torch.FloatStorage
    True
    """
    found: type = getattr(sys.modules[__package__], storage_type.__name__)
    return found
