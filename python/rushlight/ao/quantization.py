"""Quantisation: numbers moved to the steps that few bits say, linear layers with weights of eight bits.

Models may have the places where all numbers would become integers; they stay what they are.

>>> import rushlight as torch
>>> torch.ao.quantization.QuantStub()(torch.ones(1))
tensor([1.])
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._devices.absent import refusing
from .._lazy import on_first_use
from .._module_aliases import add_module_aliases
from ..nn.modules.module import Module

__all__ = ["DeQuantStub", "QConfig", "QuantStub", "QuantWrapper"]

_REFUSED = (
    "HistogramObserver convert fuse_modules fuse_modules_qat get_default_qat_qconfig get_default_qconfig "
    "prepare prepare_qat quantize quantize_qat"
)
refusing(
    globals(),
    _REFUSED,
    NotImplementedError,
    "torch.ao.quantization: models are not quantised here; they compute with the numbers that they have",
)


_OBSERVERS = (
    "FakeQuantize FakeQuantizeBase MinMaxObserver MovingAverageMinMaxObserver "
    "MovingAveragePerChannelMinMaxObserver NoopObserver ObserverBase PerChannelMinMaxObserver "
    "PlaceholderObserver UniformQuantizationObserverBase default_debug_observer "
    "default_dynamic_quant_observer default_fake_quant default_observer "
    "default_per_channel_weight_fake_quant default_per_channel_weight_observer "
    "default_placeholder_observer default_weight_fake_quant "
    "default_weight_observer"
)
__getattr__, __dir__ = on_first_use(
    globals(), places={".observers": _OBSERVERS, ".dynamic": "quantize_dynamic"}
)
add_module_aliases(
    globals(),
    {
        "fake_quantize": {".observers": _OBSERVERS},
        "observer": {".observers": _OBSERVERS, ".quantization": "HistogramObserver"},
        "qconfig": {".quantization": "QConfig"},
        "stubs": {".quantization": "DeQuantStub QuantStub QuantWrapper"},
        "quantize": {".dynamic": "quantize_dynamic"},
    },
)


class QConfig(NamedTuple):
    """How what is passed on and how weights would become integers."""

    activation: Any
    weight: Any


class QuantStub(Module):
    """Where numbers would become integers: they stay what they are."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """Return what is given."""
        return x


class DeQuantStub(QuantStub):
    """Where integers would become numbers again: they are numbers."""


class QuantWrapper(Module):
    """A module between both."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.quant, self.dequant = QuantStub(), DeQuantStub()
        self.module = module

    def forward(self, X: Any) -> Any:
        """Call the module."""
        return self.dequant(self.module(self.quant(X)))
