"""Where in the program something happened, as profiles and logs ask for it."""

from __future__ import annotations

import sys
from traceback import FrameSummary, walk_stack
from typing import Any

__all__ = ["CapturedTraceback", "gather_traceback", "symbolize_tracebacks"]


class CapturedTraceback:
    """Calls under way, the innermost first; what they are called is found when it is asked for."""

    def __init__(self, calls: list[tuple[Any, int]]) -> None:
        self._calls = calls

    def summaries(self) -> list[FrameSummary]:
        """Return the calls with their names and places."""
        return [
            FrameSummary(code.co_filename, line, code.co_name, lookup_line=False)
            for code, line in self._calls
        ]


def gather_traceback(python: bool = True, script: bool = True, cpp: bool = True) -> CapturedTraceback:
    """Return the calls that are under way."""
    frame = sys._getframe(1)
    return CapturedTraceback([(one.f_code, line) for one, line in walk_stack(frame)] if python else [])


def symbolize_tracebacks(tracebacks: list[CapturedTraceback]) -> list[list[dict[str, Any]]]:
    """Return the names and places of calls, for each of several.

    >>> from rushlight._C._profiler import gather_traceback, symbolize_tracebacks
    >>> symbolize_tracebacks([gather_traceback()])[0][0]["name"]
    '<module>'
    """
    return [
        [{"name": one.name, "filename": one.filename, "line": one.lineno} for one in found.summaries()]
        for found in tracebacks
    ]
