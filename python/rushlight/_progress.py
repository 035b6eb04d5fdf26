"""How far something is, as text, where the package `tqdm` is not there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

__all__ = ["tqdm"]


class tqdm:
    """Counts, and says how far it is."""

    def __init__(
        self,
        iterable: Iterable[Any] | None = None,
        total: int | None = None,
        disable: bool = False,
        unit: str | None = None,
        **options: Any,
    ) -> None:
        self.iterable = iterable
        self.total, self.disable, self.n = total, disable, 0

    def __iter__(self) -> Iterator[Any]:
        with self:
            for one in self.iterable or ():
                yield one
                self.update(1)

    def update(self, n: int = 1) -> None:
        """Count so many more."""
        self.n += n
        if not self.disable:
            share = f"{100 * self.n / self.total:.1f}%" if self.total else f"{self.n} bytes"
            sys.stderr.write(f"\r{share}")
            sys.stderr.flush()

    def set_description(self, *args: Any, **kwargs: Any) -> None:
        """Say what is counted: nothing shows it."""

    def write(self, s: str) -> None:
        """Write a line."""
        sys.stderr.write(f"{s}\n")

    def close(self) -> None:
        """End the line."""
        if not self.disable:
            sys.stderr.write("\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
