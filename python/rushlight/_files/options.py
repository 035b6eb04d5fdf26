"""How files of tensors are written and read where the caller does not say, and who sets that."""

from __future__ import annotations

import sys
import zipfile
from enum import Enum
from io import BytesIO
from typing import Any

from .. import serialization
from .checkpoints import Archive

__all__: list[str] = []

IS_WINDOWS = sys.platform == "win32"
MAP_SHARED, MAP_PRIVATE = (None, None) if IS_WINDOWS else (1, 2)
SHORT_SIZE, INT_SIZE, LONG_SIZE = 2, 4, 8
STORAGE_KEY_SEPARATOR = ","


class LoadEndianness(Enum):
    """The order of the bytes of a number."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class SourceChangeWarning(Warning):
    """Whole modules were written with other code than they are read with."""


class load:
    """Settings of reading."""

    mmap = False
    endianness: LoadEndianness | None = None
    mmap_flags = MAP_PRIVATE
    calculate_storage_offsets = False
    without_numbers = False


class save:
    """Settings of writing."""

    compute_crc32 = True
    use_pinned_memory_for_d2h = False
    storage_alignment = 64
    without_numbers = False


def assumed_order() -> str:
    """Return the order of bytes in files that do not tell."""
    if load.endianness in (None, LoadEndianness.NATIVE):
        return sys.byteorder
    return "little" if load.endianness is LoadEndianness.LITTLE else "big"


def get_default_load_endianness() -> LoadEndianness | None:
    """Return the order of bytes in files that do not tell; `None` is that of this machine."""
    return load.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Say which order the bytes have in files that do not tell."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    load.endianness = endianness


def get_crc32_options() -> bool:
    """Tell whether sums that prove what was written are asked for. They are written in any case."""
    return save.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Ask for sums that prove what was written."""
    save.compute_crc32 = compute_crc32


def get_default_mmap_options() -> int | None:
    """Return how files are mapped: `mmap.MAP_PRIVATE` or `mmap.MAP_SHARED`."""
    return load.mmap_flags


class set_default_mmap_options:
    """Say how files are mapped, from now on or in a block: with `mmap.MAP_SHARED`, writes go to the file."""

    def __init__(self, flags: int) -> None:
        if IS_WINDOWS:
            raise RuntimeError("Changing the default mmap options is currently not supported for Windows")
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, "
                f"expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got {flags}"
            )
        self.prev, load.mmap_flags = load.mmap_flags, flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        load.mmap_flags = self.prev


class skip_data:
    """A block in which files have room for the numbers of tensors, and these are neither written nor read.

    >>> import io
    >>> import rushlight as torch
    >>> file = io.BytesIO()
    >>> with torch.serialization.skip_data():
    ...     torch.save(torch.ones(2), file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    tensor([0., 0.])
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self.before = load.without_numbers, save.without_numbers
        load.without_numbers = save.without_numbers = True

    def __exit__(self, *exception: object) -> None:
        load.without_numbers, save.without_numbers = self.before


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """Return what a file names that `load` refuses to find, unless it is added to the safe globals.

    The file is looked at, and nothing that it names is called.
    """
    if not hasattr(f, "read"):
        with open(f, "rb") as file:
            return get_unsafe_globals_in_checkpoint(file)
    begins = f.tell()
    if not zipfile.is_zipfile(f):
        raise ValueError("Expected input to be a checkpoint returned by torch.save")
    f.seek(begins)
    archive = Archive(f)
    if archive.has("constants.pkl"):
        raise ValueError(
            "Expected input to be a checkpoint returned by torch.save but got a torchscript checkpoint"
        )
    names = _names_in(archive.pickle())
    return [f"{module}.{name}" for module, name in names if serialization._allowed(module, name) is None]


def _names_in(content: bytes) -> list[tuple[str, str]]:
    """Return the names that a pickle finds, each once."""
    import pickletools

    found: dict[tuple[str, str], None] = {}
    texts: list[str] = []
    for operation, argument, _ in pickletools.genops(BytesIO(content)):
        if operation.name == "GLOBAL":
            module, _, name = str(argument).partition(" ")
            found[module, name] = None
        elif operation.name == "STACK_GLOBAL" and len(texts) > 1:
            found[texts[-2], texts[-1]] = None
        elif isinstance(argument, str):
            texts.append(argument)
    return list(found)


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True
) -> bool:
    """Tell whether a module has at least some version, as far as its version is one."""
    try:
        parts = zip(req_version_tuple, module.__version__.split("."), strict=False)
        found = tuple(type(wanted)(part) for wanted, part in parts)
        return found >= req_version_tuple
    except Exception as error:
        text = f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be "
        text += f"compared with tuple {req_version_tuple!s}"
        if error_if_malformed:
            raise RuntimeError(text) from error
        import warnings

        warnings.warn(f"{text}, but continuing assuming that requirement is met", stacklevel=2)
        return True
