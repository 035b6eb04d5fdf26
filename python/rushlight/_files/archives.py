"""Archives of records, which files of tensors are made of, as torch's compiled module reads them."""

from __future__ import annotations

import io
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .checkpoints import ARCHIVE_START, Archive
from .writing import PyTorchFileWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .. import _rushlight as native
    from .._rushlight import Tensor

__all__: list[str] = []


class _Readable(io.RawIOBase):
    """A file that has little more than `read`, `seek` and `tell`, as one that has everything."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.seek, self.tell = file.seek, file.tell  # type: ignore[method-assign]

    def seekable(self) -> bool:
        """Tell that one may go back: it was asked before."""
        return True

    def readable(self) -> bool:
        """Tell that there is something to read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read as many bytes as there is place for."""
        if hasattr(self._file, "readinto"):
            count: int = self._file.readinto(buffer)
            return count
        found = self._file.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Leave the file to its owner."""


def readable(file: Any) -> Any:
    """Return a file from which archives can be read."""
    return file if isinstance(file, io.IOBase) or hasattr(file, "seekable") else _Readable(file)


class PyTorchFileReader:
    """The records of an archive."""

    def __init__(self, file: Any) -> None:
        self._own = None if hasattr(file, "read") else open(file, "rb")  # noqa: SIM115 - as long as this lives
        try:
            self._archive = Archive(readable(file if self._own is None else self._own))
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        if self._own is not None:
            self._own.close()

    def get_record(self, name: str) -> bytes:
        """Return the bytes of a record."""
        return self._archive.read(name)

    def has_record(self, name: str) -> bool:
        """Tell whether there is a record of this name."""
        return self._archive.has(name)

    def get_all_records(self) -> list[str]:
        """Name the records."""
        begin = len(self._archive.prefix) + 1
        return [name[begin:] for name in self._archive.members.namelist()]

    def get_storage_from_record(self, name: str, numel: int, dtype: native.dtype) -> Tensor:
        """Return the elements that a record has the bytes of."""
        return self._archive.copied(name).view(dtype)[:numel]

    def get_record_offset(self, name: str) -> int:
        """Return where the bytes of a record begin."""
        return self._archive.begins(name)

    def version(self) -> int:
        """Return the version of the archive."""
        return int(self.get_record("version" if self.has_record("version") else ".data/version"))

    def __enter__(self) -> PyTorchFileReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self._close()

    def __del__(self) -> None:
        self._close()


def _is_zipfile(f: Any) -> bool:
    """Tell whether an archive begins where a file is."""
    begins = f.tell()
    start = f.read(len(ARCHIVE_START))
    f.seek(begins)
    return bool(start == ARCHIVE_START)


_open_zipfile_reader, _open_zipfile_writer = PyTorchFileReader, PyTorchFileWriter


@contextmanager
def _open_file_like(name_or_buffer: Any, mode: str) -> Iterator[Any]:
    """Open a file for a block, or take one that is open: it stays so, and has everything that was written."""
    if isinstance(name_or_buffer, (str, os.PathLike)):
        with open(name_or_buffer, mode) as file:
            yield file
        return
    if not {"r", "w"} & set(mode):
        raise RuntimeError(f"Expected 'r' or 'w' in mode but got {mode}")
    yield name_or_buffer
    if "w" in mode:
        name_or_buffer.flush()
