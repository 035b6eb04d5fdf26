"""What makes models smaller: quantisation, of which modules have the places, and its layers."""

from __future__ import annotations

from .._lazy import on_first_use

__all__ = ["nn", "quantization"]

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from . import nn as nn
    from . import quantization as quantization
else:
    __getattr__, __dir__ = on_first_use(globals(), rooms={"nn", "quantization"})
