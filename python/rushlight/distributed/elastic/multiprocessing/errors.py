"""`record`: what a process leaves behind of the exception that ends it."""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["record"]

Function = TypeVar("Function", bound="Callable[..., Any]")


def record(fn: Function, error_handler: Any = None) -> Function:
    """Decorate the main function of a program: its exception goes into the file `TORCHELASTIC_ERROR_FILE`.

    >>> from rushlight.distributed.elastic.multiprocessing.errors import record
    >>> record(len)([1, 2])
    2
    """

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except Exception as failure:
            path = os.environ.get("TORCHELASTIC_ERROR_FILE")
            if path:
                told = {
                    "message": f"{type(failure).__name__}: {failure}",
                    "extraInfo": {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))},
                }
                with open(path, "w", encoding="utf-8") as file:
                    json.dump({"message": told}, file)
            raise

    return call  # type: ignore[return-value]
