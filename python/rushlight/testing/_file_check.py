"""`FileCheck`: whether a text has some parts, in the order in which they are named, and others not."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["FileCheck"]

_LINE = re.compile(
    r"#\s*(CHECK(?:-(?:NOT|NEXT|SAME|DAG|REGEX|SOURCE-HIGHLIGHTED|COUNT-\d+(?:-EXACTLY)?))?):\s?(.*)"
)


class FileCheck:
    """What a text has to have, and what not.

    >>> from rushlight.testing import FileCheck
    >>> FileCheck().check("add").check_not("mul").check("relu").run("x.add(y)\\nx.relu()")
    """

    def __init__(self) -> None:
        self._checks: list[tuple[str, str]] = []

    def _add(self, kind: str, pattern: str) -> FileCheck:
        self._checks.append((kind, pattern))
        return self

    def check(self, test: str) -> FileCheck:
        """Ask for a part after those before."""
        return self._add("CHECK", test)

    def check_not(self, test: str) -> FileCheck:
        """Refuse a part between those before and behind."""
        return self._add("CHECK-NOT", test)

    def check_same(self, test: str) -> FileCheck:
        """Ask for a part in the line in which the last one ends."""
        return self._add("CHECK-SAME", test)

    def check_next(self, test: str) -> FileCheck:
        """Ask for a part in the line after that in which the last one ends."""
        return self._add("CHECK-NEXT", test)

    def check_count(self, test: str, count: int, exactly: bool = False) -> FileCheck:
        """Ask for a part so many times, and if `exactly` no more."""
        self._add(f"CHECK-COUNT-{count}", test)
        return self.check_not(test) if exactly else self

    def check_dag(self, test: str) -> FileCheck:
        """Ask for a part; the order among those that are asked for so does not count."""
        return self._add("CHECK-DAG", test)

    def check_regex(self, test: str) -> FileCheck:
        """Ask for what a regular expression matches."""
        return self._add("CHECK-REGEX", test)

    def check_source_highlighted(self, test: str) -> FileCheck:
        """Ask for a part that is marked in the line below it."""
        return self._add("CHECK-SOURCE-HIGHLIGHTED", test)

    def run(self, *texts: Any) -> None:
        """Check a text, or first take what to ask of it from the comments of another."""
        *asked, text = map(str, texts)
        checks = list(self._checks)
        for lines in asked:
            checks += _written(lines)
        if not checks:
            raise RuntimeError("No checks have been added to this instance ofFilecheck! Check for bad input.")
        _Run(text).all(checks)


def _written(lines: str) -> list[tuple[str, str]]:
    """Return the checks that stand in comments."""
    found: list[tuple[str, str]] = []
    for kind, pattern in _LINE.findall(lines):
        found.append((kind.removesuffix("-EXACTLY"), pattern))
        if kind.endswith("-EXACTLY"):
            found.append(("CHECK-NOT", pattern))
    if not found:
        raise RuntimeError(f"Could not parse check at:\n{lines}\nCheck for bad input.")
    return found


class _Run:
    """The checks of one text, of which the part until `end` has been gone through."""

    def __init__(self, text: str) -> None:
        self.text, self.end = text, 0

    def all(self, checks: list[tuple[str, str]]) -> None:
        refused: list[str] = []
        at = 0
        while at < len(checks):
            kind, pattern = checks[at]
            at += 1
            if kind == "CHECK-NOT":
                refused.append(pattern)
                continue
            group = [pattern]
            while kind == "CHECK-DAG" and at < len(checks) and checks[at][0] == kind:
                group.append(checks[at][1])
                at += 1
            before = self.end
            begin = self._dags(group) if kind == "CHECK-DAG" else self._one(kind, pattern)
            self._without(refused, before, begin)
            refused.clear()
        self._without(refused, self.end, len(self.text))

    def _one(self, kind: str, pattern: str) -> int:
        """Go through a check, and return where its part begins."""
        before = self.end
        if kind == "CHECK-REGEX":
            found = re.compile(pattern).search(self.text, before)
            if found is None:
                self._missing(f'regex "{pattern}"', kind, pattern)
            self.end = found.end()  # type: ignore[union-attr]
            return found.start()  # type: ignore[union-attr]
        count = int(kind.rpartition("-")[2]) if kind.startswith("CHECK-COUNT") else 1
        begins = [self._next(pattern, kind) for _ in range(count)]
        begin = begins[0] if begins else before
        between = self.text[before:begin]
        lines = between.count("\n")
        if (kind == "CHECK-SAME" and lines) or (kind == "CHECK-NEXT" and lines > 1):
            self._found("\\n", self.text, kind, pattern)
        if kind == "CHECK-NEXT" and not lines:
            self._missing('"\\n"', kind, pattern)
        if kind == "CHECK-SOURCE-HIGHLIGHTED":
            self._highlighted(begin, pattern)
        return begin

    def _next(self, pattern: str, kind: str) -> int:
        begin = self.text.find(pattern, self.end)
        if begin < 0:
            self._missing(f'"{pattern}"', kind, pattern)
        self.end = begin + len(pattern)
        return begin

    def _dags(self, patterns: list[str]) -> int:
        before, ends = self.end, []
        begins = []
        for pattern in patterns:
            self.end = before
            begins.append(self._next(pattern, "CHECK-DAG"))
            ends.append(self.end)
        self.end = max(ends)
        return min(begins)

    def _highlighted(self, begin: int, pattern: str) -> None:
        start = self.text.rfind("\n", 0, begin) + 1
        below = self.text.find("\n", begin) + 1
        marks = self.text[below:].partition("\n")[0] if below else ""
        column = begin - start
        if marks[column : column + len(pattern)] != "~" * len(pattern):
            raise RuntimeError(
                f'Expected to find "{pattern}"highlighted but it is not.\n{self._near(begin, 1)}'
            )

    def _without(self, refused: list[str], begin: int, end: int) -> None:
        for pattern in refused:
            place = self.text.find(pattern, begin, end)
            if place >= 0:
                self._found(pattern, self._near(place, len(pattern)), "CHECK-NOT", pattern)

    def _near(self, place: int, length: int) -> str:
        """Return the lines around a place, which is marked."""
        lines = self.text.split("\n")
        number = self.text.count("\n", 0, place)
        column = place - (self.text.rfind("\n", 0, place) + 1)
        mark = f"{' ' * column}{'~' * length} <--- HERE"
        first = max(number - 3, 0)
        return "\n".join([*lines[first : number + 1], mark, *lines[number + 1 : number + 3]])

    def _found(self, pattern: str, where: str, kind: str, asked: str) -> None:
        raise RuntimeError(f'Expected to not find "{pattern}" but found it\n{where}\nFrom {kind}: {asked}\n')

    def _missing(self, what: str, kind: str, pattern: str) -> None:
        where = self._near(self.end, max(len(pattern), 1))
        raise RuntimeError(
            f"Expected to find {what} but did not find it\nSearched string:\n{where}\n"
            f"From {kind}: {pattern}\n"
        )
