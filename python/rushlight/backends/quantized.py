"""Ways to compute with quantised tensors: none is here, and the names are known.

>>> import rushlight as torch
>>> torch.backends.quantized.engine in torch.backends.quantized.supported_engines
True
"""

from __future__ import annotations

import sys
from types import ModuleType

supported_engines = ["qnnpack", "onednn", "x86", "fbgemm"]


class _Quantised(ModuleType):
    """The module, which takes a known name alone."""

    _engine = "x86"

    @property
    def engine(self) -> str:
        return self._engine

    @engine.setter
    def engine(self, name: str) -> None:
        if name not in (*supported_engines, "none"):
            raise RuntimeError(f"{name} is not a valid value for quantized engine")
        type(self)._engine = name


sys.modules[__name__].__class__ = _Quantised
