"""`Compare`: a table of measurements, a row for each statement, a column for each description."""

from __future__ import annotations

from enum import Enum
from itertools import groupby
from math import ceil, log10
from typing import TYPE_CHECKING

from .common import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Colorize", "Compare"]

_BEST, _GOOD, _BAD, _VERY_BAD, _BOLD = "\033[92m", "\033[34m", "\033[2m\033[91m", "\033[31m", "\033[1m"
_END = "\033[0m"


class Colorize(Enum):
    """Among which measurements the best is coloured."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """Measurements beside each other.

    >>> import rushlight as torch
    >>> from rushlight.utils.benchmark import Compare, Timer
    >>> Compare([Timer("x + x", "x = torch.ones(2)").timeit(100)]).print()  # doctest: +SKIP
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._is_trimmed = self._shows_warnings = False
        self._colours = Colorize.NONE

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add more measurements."""
        for one in results:
            if not isinstance(one, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(one)} instead.")
            self._results.append(one)

    def trim_significant_figures(self) -> None:
        """Show only digits that mean something."""
        self._is_trimmed = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colour the best of each column, or of each row, and what is much slower."""
        self._colours = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Say which measurements are far apart in themselves."""
        self._shows_warnings = True

    def print(self) -> None:
        """Print the table."""
        print(self)

    def __str__(self) -> str:
        groups: dict[str | None, list[Measurement]] = {}
        for one in Measurement.merge(self._results):
            groups.setdefault(one.label, []).append(one)
        return "\n".join(self._table(label, group) for label, group in groups.items())

    def _table(self, label: str | None, found: list[Measurement]) -> str:
        unit, scale = select_unit(min(one.median for one in found))
        keys = ordered_unique((one.num_threads, one.env, one.as_row_name) for one in found)
        keys.sort(key=lambda key: key[:2])
        places = {((one.num_threads, one.env, one.as_row_name), one.description): one for one in found}
        headings = ordered_unique(one.description for one in found)
        rows = [[places.get((key, heading)) for heading in headings] for key in keys]
        columns = [_Column([row[place] for row in rows], scale, self) for place in range(len(headings))]

        names = _row_names(keys)
        texts = [[name, *map(_Column.text, columns, row)] for name, row in zip(names, rows, strict=True)]
        heads = ["", *(heading or "" for heading in headings)]
        widths = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
        lines = ["  |  ".join(map(str.center, heads, widths))]
        overall = len(lines[0])
        for threads, group in groupby(range(len(rows)), lambda place: keys[place][0]):
            lines.append(f"{threads} threads: ".ljust(overall, "-"))
            members = list(group)
            for place in members:
                cells = [text.center(width) for text, width in zip(texts[place][1:], widths[1:], strict=True)]
                coloured = map(self._coloured, cells, rows[place], self._bests(rows, place, members))
                lines.append("  |  ".join([texts[place][0].ljust(widths[0]), *coloured]))
        title = f" {label or ''} ".center(overall - 2, "-")
        note = (
            "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.\n"
            if self._shows_warnings and any(one.has_warnings for one in found)
            else ""
        )
        body = "\n".join(lines)
        return f"[{title}]\n{body}\n\nTimes are in {unit_to_english(unit)}s ({unit}).\n{note}"

    def _bests(
        self, rows: list[list[Measurement | None]], place: int, members: list[int]
    ) -> list[float | None]:
        """Return what the measurements of a row are compared with."""
        if self._colours is Colorize.ROWWISE:
            return [_least(rows[place])] * len(rows[place])
        return [_least(column) for column in zip(*(rows[one] for one in members), strict=True)]

    def _coloured(self, text: str, one: Measurement | None, best: float | None) -> str:
        if self._colours is Colorize.NONE or one is None or best is None:
            return text
        if one.median <= best * 1.01 or one.median <= best + 100e-9:
            return _BEST + _BOLD + text + _END * 2
        if one.median <= best * 1.1:
            return _GOOD + _BOLD + text + _END * 2
        if one.median >= best * 5:
            return _VERY_BAD + _BOLD + text + _END * 2
        return _BAD + text + _END * 2 if one.median >= best * 2 else text


class _Column:
    """How the numbers of a column are written."""

    def __init__(self, found: Iterable[Measurement | None], scale: float, table: Compare) -> None:
        known = [one for one in found if one is not None]
        digits = [ceil(round(log10(one.median / scale), 6)) for one in known]
        self._scale, self._is_trimmed = scale, table._is_trimmed
        self._has_room = table._shows_warnings and any(one.has_warnings for one in known)
        self._decimals = 1
        if self._is_trimmed:
            pairs = zip(known, digits, strict=True)
            self._decimals = min(max(one.significant_figures - count, 0) for one, count in pairs)
        self._width = max(digits) + self._decimals + (self._decimals > 0)

    def text(self, one: Measurement | None) -> str:
        """Write a measurement, or the room of one that is not there."""
        if one is None:
            return " " * len(self._number(1.0, ""))
        value = one.median / self._scale
        if self._is_trimmed:
            value = trim_sigfig(value, one.significant_figures)
        return self._number(value, f" (! {one.iqr / one.median * 100:.0f}%)" if one.has_warnings else "")

    def _number(self, value: float, warning: str) -> str:
        shown = f"{value:>{self._width}.{self._decimals}f}"
        return shown + warning.rjust(7) if self._has_room else shown


def _row_names(keys: list[tuple[int, str | None, str]]) -> list[str]:
    """Return the names of rows, the first of an environment with that, where there are several."""
    known = {env for _, env, _ in keys}
    if len(known) == 1:
        return [f"      {name}" for _, _, name in keys]
    width = max(len(str(env)) for env in known) + 4
    names = []
    before: tuple[int, str | None] | None = None
    for threads, env, name in keys:
        shown = f"({env})" if (threads, env) != before else ""
        names.append(f"  {shown.ljust(width)}{name}")
        before = threads, env
    return names


def _least(found: Iterable[Measurement | None]) -> float | None:
    return min((one.median for one in found if one is not None), default=None)
