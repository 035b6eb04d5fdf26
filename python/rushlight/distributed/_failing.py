"""A process that fails says so to the others, so that none waits for it."""

from __future__ import annotations

import io
import sys
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from ._process_group import ProcessGroup

_watched: ProcessGroup | None = None
_former: Any = None


def watch(group: ProcessGroup) -> None:
    """Have the others of a group told if an exception ends this process, which prints its rank beside it."""
    global _watched, _former
    _watched = group
    _former, sys.excepthook = sys.excepthook, _print_and_tell


def look_away() -> None:
    """Tell nobody any more."""
    global _watched
    _watched = None
    if sys.excepthook is _print_and_tell:
        sys.excepthook = _former


def tell(failure: BaseException) -> None:
    """Say to the others that this process fails. Whoever catches its last exception has to call this."""
    global _watched
    group, _watched = _watched, None
    if group is not None and group.size() > 1:
        group._way.warn_others("".join(traceback.format_exception(failure)))


def _print_and_tell(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
    rank = _watched.rank() if _watched is not None else None
    if rank is None:
        _former(kind, value, trace)
        return
    stream, sys.stderr = sys.stderr, io.StringIO()
    try:
        _former(kind, value, trace)
        text = sys.stderr.getvalue()
    finally:
        sys.stderr = stream
    stream.write("\n".join(f"[rank{rank}]: {line}" if line else "" for line in text.split("\n")))
    stream.flush()
    tell(value)
