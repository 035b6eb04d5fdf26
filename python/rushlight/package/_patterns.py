"""Patterns that modules and files are chosen by."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["GlobGroup"]

GlobPattern = str | Iterable[str]


class GlobGroup:
    """Names that match one of the patterns in `include` and none of those in `exclude`.

    `*` stands for anything within a part of a name, `**` for any number of parts.

    >>> from rushlight.package import GlobGroup
    >>> group = GlobGroup("torch.**", exclude="torch.nn.**")
    >>> group.matches("torch.optim.adam"), group.matches("torch.nn"), group.matches("torchvision")
    (True, False, False)
    """

    def __init__(self, include: GlobPattern, *, exclude: GlobPattern = (), separator: str = ".") -> None:
        self._said = f"GlobGroup(include={include}, exclude={exclude})"
        self.separator = separator
        self.include = self._compiled(include)
        self.exclude = self._compiled(exclude)

    def __str__(self) -> str:
        return self._said

    __repr__ = __str__

    def matches(self, candidate: str) -> bool:
        """Tell whether a name is one of them."""
        whole = self.separator + candidate
        return any(one.fullmatch(whole) for one in self.include) and not any(
            one.fullmatch(whole) for one in self.exclude
        )

    def _compiled(self, patterns: GlobPattern) -> list[re.Pattern[str]]:
        listed = [patterns] if isinstance(patterns, str) else patterns
        return [re.compile("".join(map(self._part, one.split(self.separator)))) for one in listed]

    def _part(self, part: str) -> str:
        separator = re.escape(self.separator)
        if part == "**":
            return f"({separator}[^{separator}]+)*"
        if "**" in part:
            raise ValueError("** can only appear as an entire path segment")
        return separator + f"[^{separator}]*".join(map(re.escape, part.split("*")))
