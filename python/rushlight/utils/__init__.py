"""What is useful around tensors and is not about tensors."""

from __future__ import annotations

from .._lazy import on_first_use

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from . import data as data
else:
    __getattr__, __dir__ = on_first_use(globals(), rooms={"data"})

__all__ = ["data"]
