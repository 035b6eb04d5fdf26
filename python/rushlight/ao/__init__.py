"""What makes models smaller: quantisation, of which modules have the places."""

from __future__ import annotations

from .._lazy import on_first_use

__all__ = ["quantization"]

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from . import quantization as quantization
else:
    __getattr__, __dir__ = on_first_use(globals(), rooms={"quantization"})
