"""Memory of tensors as processes know it."""

from __future__ import annotations

from typing import Any

__all__ = ["StorageWeakRef"]


class StorageWeakRef:
    """Says which memory a storage has, without keeping it."""

    __slots__ = ("cdata",)

    def __init__(self, storage: Any) -> None:
        self.cdata: int = storage._cdata

    @classmethod
    def from_weakref(cls, cdata: int) -> StorageWeakRef:
        """Return one of the number of some memory."""
        made = cls.__new__(cls)
        made.cdata = cdata
        return made

    def __hash__(self) -> int:
        return self.cdata

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorageWeakRef) and self.cdata == other.cdata
