"""Names of types, for annotations."""

from __future__ import annotations

import builtins

from . import _rushlight as native
from ._lazy import on_first_use

__all__ = ["Device", "Number"]

_bool, _bytes, _complex = builtins.bool, builtins.bytes, builtins.complex
_float, _int, _str = builtins.float, builtins.int, builtins.str
_device, _dtype, _layout = native.device, native.dtype, native.layout

_size = native.Size | list[int] | tuple[int, ...]
_TensorOrTensors = native.Tensor | tuple[native.Tensor, ...]
Number = int | float | bool
Device = native.device | str | int | None

__getattr__, __dir__ = on_first_use(
    globals(), places={".storage": "Storage", "._functions.symbols": "SymBool SymFloat SymInt"}
)
