"""The files of an archive as a tree."""

from __future__ import annotations

from ._patterns import GlobGroup, GlobPattern

__all__ = ["Directory", "tree"]


class Directory:
    """A folder or a file of an archive. Printed, it shows what is in it."""

    def __init__(self, name: str, is_dir: bool) -> None:
        self.name, self.is_dir = name, is_dir
        self.children: dict[str, Directory] = {}

    def has_file(self, filename: str) -> bool:
        """Tell whether there is a file of this path."""
        first, _, rest = filename.partition("/")
        child = self.children.get(first)
        return child is not None and (not rest or child.has_file(rest))

    def _add(self, path: str) -> None:
        first, _, rest = path.partition("/")
        child = self.children.setdefault(first, Directory(first, bool(rest)))
        if rest:
            child._add(rest)

    def __str__(self) -> str:
        return "".join(self._lines("", ""))

    def _lines(self, before: str, mark: str) -> list[str]:
        lines = [f"{before}{mark or '─── '}{self.name}\n"]
        inside = before + {"": "    ", "├── ": "│   ", "└── ": "    "}[mark]
        listed = [self.children[key] for key in sorted(self.children)]
        listed.sort(key=lambda one: not one.is_dir)
        for one in listed:
            lines += one._lines(inside, "└── " if one is listed[-1] else "├── ")
        return lines


def tree(name: str, files: list[str], include: GlobPattern, exclude: GlobPattern) -> Directory:
    """Return the files of an archive that match these patterns."""
    group, found = GlobGroup(include, exclude=exclude, separator="/"), Directory(name, True)
    for file in files:
        if group.matches(file):
            found._add(file)
    return found
