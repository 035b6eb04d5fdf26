"""What is told while a program runs of functions that are recorded, recorded anew, or not at all.

Each is a record of the logger `rushlight.compiler`; with `recompiles` in the variable `RUSHLIGHT_LOGS` or
`TORCH_LOGS` of the environment they are written to standard error.
"""

from __future__ import annotations

import logging
import os
import sys

log = logging.getLogger("rushlight.compiler")

_WANTED = ("recompiles", "recompiles_verbose", "dynamo", "all")


def _is_wanted() -> bool:
    said = f"{os.environ.get('RUSHLIGHT_LOGS', '')},{os.environ.get('TORCH_LOGS', '')}"
    return any(word.strip().lstrip("+") in _WANTED for word in said.split(","))


class _Writer(logging.Handler):
    """Writes to what is standard error then."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"[{record.name}] {record.getMessage()}\n")


_writer = _Writer()


def show(wanted: bool) -> None:
    """Write it to standard error, or do so no longer."""
    log.removeHandler(_writer)
    if wanted:
        log.addHandler(_writer)
    log.setLevel(logging.INFO if wanted else logging.NOTSET)


if _is_wanted():
    show(True)
