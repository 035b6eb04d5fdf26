"""What is told while a program runs of functions that are recorded, recorded anew, or not at all.

Each is a record of the logger `rushlight.compiler`; with `recompiles` in the variable `RUSHLIGHT_LOGS` or
`TORCH_LOGS` of the environment they are written to standard error.
"""

from __future__ import annotations

import logging
import os

log = logging.getLogger("rushlight.compiler")

_WANTED = ("recompiles", "recompiles_verbose", "dynamo", "all")


def _is_wanted() -> bool:
    said = f"{os.environ.get('RUSHLIGHT_LOGS', '')},{os.environ.get('TORCH_LOGS', '')}"
    return any(word.strip().lstrip("+") in _WANTED for word in said.split(","))


if _is_wanted():
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
