"""Places in programs as short text, and stacks of calls that are kept to be shown later.

>>> from rushlight.utils._traceback import CapturedTraceback
>>> def called():
...     return CapturedTraceback.extract()
>>> called().summary()[-1].name
'called'
"""

from __future__ import annotations

import inspect
import os
import sys
import tempfile
import traceback
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

__all__ = [
    "CapturedTraceback",
    "format_frame",
    "format_traceback_short",
    "report_compile_source_on_error",
    "shorten_filename",
]


@contextmanager
def report_compile_source_on_error() -> Generator[None]:
    """In the block, errors show lines of code that was made of text, if `__compile_source__` is that text."""
    try:
        yield
    except Exception as error:
        found, place = [], error.__traceback__
        while place is not None:
            found.append(_readable(place))
            place = place.tb_next
        following = None
        for each in reversed(found):
            each.tb_next = following
            following = each
        raise error.with_traceback(following)  # noqa: B904 - it is the same error.


def _readable(place: TracebackType) -> TracebackType:
    """Return a place whose lines are in a file: of code made of text, another that is shown alike."""
    frame = place.tb_frame
    source = frame.f_globals.get("__compile_source__")
    if frame.f_code.co_filename != "<string>" or source is None:
        return place
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(source)
    code = compile("__here()", file.name, "eval").replace(
        co_name=frame.f_code.co_name, co_firstlineno=frame.f_code.co_firstlineno
    )
    if sys.version_info >= (3, 11):
        code = code.replace(co_linetable=frame.f_code.co_linetable)
    shown = eval(code, frame.f_globals, {**frame.f_locals, "__here": inspect.currentframe})
    return TracebackType(None, shown, place.tb_lasti, place.tb_lineno)


def shorten_filename(fn: str, *, base: str | None = None) -> str:
    """Return the part of a path inside of a folder: of this package, if none is given."""
    base = base or os.path.dirname(os.path.dirname(__file__))
    try:
        prefix = os.path.commonpath([fn, base])
    except ValueError:  # They are on different drives.
        return fn
    return fn[len(prefix) + 1 :]


def format_frame(frame: traceback.FrameSummary, *, base: str | None = None, line: bool = False) -> str:
    """Return a place in a line."""
    start = f"{frame.line}  # " if line else ""
    return f"{start}{shorten_filename(frame.filename, base=base)}:{frame.lineno} in {frame.name}"


def format_traceback_short(tb: TracebackType | None) -> str:
    """Return the innermost place of a traceback in a line."""
    return format_frame(traceback.extract_tb(tb)[-1])


class CapturedTraceback:
    """A stack of calls, whose lines are read when they are shown."""

    __slots__ = ["skip", "tb"]

    def __init__(self, tb: Any, skip: int = 0) -> None:
        self.tb, self.skip = tb, skip

    @staticmethod
    def extract(*, script: bool = False, cpp: bool = False, skip: int = 0) -> CapturedTraceback:
        """Keep the calls that lead here, but for the last of them that are left out."""
        if (script or cpp) and skip:
            raise AssertionError("skip with script/cpp NYI")
        frames = traceback.walk_stack(sys._getframe(1 + skip))
        return CapturedTraceback(traceback.StackSummary.extract(frames, lookup_lines=False), skip)

    def cleanup(self) -> None:
        """Forget the calls."""
        self.tb = None

    def summary(self) -> traceback.StackSummary:
        """Return the calls, the outermost first."""
        return traceback.StackSummary(reversed(self.tb or ()))

    def format(self) -> list[str]:
        """Return the calls as text."""
        return traceback.format_list(self.summary())

    @staticmethod
    def format_all(tbs: Iterable[CapturedTraceback]) -> list[list[str]]:
        """Return the calls of several as text."""
        return [each.format() for each in tbs]

    def __getstate__(self) -> Any:
        return None, {"tb": None, "skip": self.skip}
