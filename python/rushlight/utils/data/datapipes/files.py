"""Files as pipes: their paths, and what stands in them."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import IterableWrapper, IterDataPipe, functional_datapipe

__all__ = ["FileLister", "FileOpener"]


@functional_datapipe("list_files")
class FileLister(IterDataPipe):
    """The paths of files in folders, by name; with `recursive`, of those in folders below them too.

    >>> from rushlight.utils.data.datapipes.files import FileLister
    >>> list(FileLister("no such folder", recursive=True))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no such folder'
    """

    def __init__(
        self,
        root: str | Iterable[str] = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        super().__init__()
        self.datapipe = IterableWrapper([root] if isinstance(root, str) else root)
        self.masks = [masks] if isinstance(masks, str) else masks
        self.recursive, self.abspath, self.length = recursive, abspath, length

    def _matches(self, name: str) -> bool:
        return self.masks in ([], [""]) or any(fnmatch.fnmatch(name, mask) for mask in self.masks)

    def __iter__(self) -> Iterator[str]:
        for folder in self.datapipe:
            yield from self._below(os.path.abspath(folder) if self.abspath else folder)

    def _below(self, folder: str) -> Iterator[str]:
        waiting = [folder]
        while waiting:
            inside = waiting.pop(0)
            below = []
            for entry in sorted(os.scandir(inside), key=lambda one: one.name):
                if entry.is_dir():
                    below.append(entry.path)
                elif self._matches(entry.name):
                    yield entry.path
            waiting = [*below, *waiting] if self.recursive else []

    def __len__(self) -> int:
        return _known(self, self.length)


@functional_datapipe("open_files")
class FileOpener(IterDataPipe):
    """The paths of files with the files, which are open."""

    def __init__(
        self, datapipe: Iterable[str], mode: str = "r", encoding: str | None = None, length: int = -1
    ) -> None:
        super().__init__()
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.encoding, self.length = datapipe, encoding, length
        self.mode = mode if mode[0] == "r" else f"r{mode}"

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        opened: Callable[..., Any] = open
        for path in self.datapipe:
            if not isinstance(path, str):
                raise TypeError(f"Expected string type for pathname, but got {type(path)}")
            yield path, opened(path, self.mode, encoding=self.encoding)

    def __len__(self) -> int:
        return _known(self, self.length)


def _known(pipe: Any, length: int) -> int:
    if length == -1:
        raise TypeError(f"{type(pipe).__name__}IterDataPipe instance doesn't have valid length")
    return length
