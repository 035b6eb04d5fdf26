"""How the compiled module shows kinds of things that have numbers."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """A kind, shown under the name of its class."""

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>"
