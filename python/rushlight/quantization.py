"""Quantisation, where it was found once. Use `rushlight.ao.quantization`."""

from __future__ import annotations

from ._module_aliases import add_module_aliases
from .ao.quantization import DeQuantStub, QConfig, QuantStub, QuantWrapper

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if not TYPE_CHECKING:
    from .ao import quantization as _home

    def __getattr__(name):  # type: ignore[no-untyped-def]
        """Find what is there."""
        return getattr(_home, name)


# The same places as there.
for _place in (
    "fake_quantize",
    "observer",
    "qconfig",
    "quant_type",
    "quantization_mappings",
    "quantize",
    "stubs",
):
    add_module_aliases(globals(), {_place: {f".ao.quantization.{_place}": ""}})

__all__ = ["DeQuantStub", "QConfig", "QuantStub", "QuantWrapper"]
