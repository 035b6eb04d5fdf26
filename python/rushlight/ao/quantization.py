"""Quantisation: numbers moved to the steps that few bits say, linear layers with weights of eight bits.

Models may have the places where all numbers would become integers; they stay what they are.

>>> import rushlight as torch
>>> torch.ao.quantization.QuantStub()(torch.ones(1))
tensor([1.])
"""

from __future__ import annotations

from typing import Any

from .._devices.absent import refusing
from .._lazy import on_first_use
from .._module_aliases import add_module_aliases
from ..nn.modules.module import Module
from .choices import QConfig

__all__ = ["DeQuantStub", "QConfig", "QuantStub", "QuantWrapper"]

_REFUSED = (
    "HistogramObserver convert fuse_modules fuse_modules_qat get_default_qat_qconfig "
    "get_default_qat_qconfig_mapping get_default_qconfig get_default_qconfig_mapping prepare prepare_qat "
    "quantize quantize_dynamic_jit quantize_jit quantize_qat"
)
_TEXT = "torch.ao.quantization: models are not quantised here; they compute with the numbers that they have"
refusing(globals(), _REFUSED, NotImplementedError, _TEXT)


_OBSERVERS = (
    "FakeQuantize FakeQuantizeBase MinMaxObserver MovingAverageMinMaxObserver "
    "MovingAveragePerChannelMinMaxObserver NoopObserver ObserverBase PerChannelMinMaxObserver "
    "PlaceholderObserver UniformQuantizationObserverBase default_debug_observer "
    "default_dynamic_fake_quant default_dynamic_quant_observer default_embedding_fake_quant "
    "default_fake_quant default_float_qparams_observer default_observer "
    "default_per_channel_weight_fake_quant default_per_channel_weight_observer "
    "default_placeholder_observer default_weight_fake_quant "
    "default_weight_observer"
)
_CHOICES = (
    "QConfig default_activation_only_qconfig default_debug_qconfig default_dynamic_qat_qconfig "
    "default_dynamic_qconfig default_embedding_qat_qconfig default_per_channel_qconfig default_qat_qconfig "
    "default_qconfig default_symmetric_qnnpack_qat_qconfig default_weight_only_qconfig "
    "float_qparams_weight_only_qconfig per_channel_dynamic_qconfig"
)
__getattr__, __dir__ = on_first_use(
    globals(),
    places={
        ".observers": _OBSERVERS,
        ".choices": f"{_CHOICES} QConfigMapping QuantType propagate_qconfig_",
        ".dynamic": "quantize_dynamic",
    },
)
add_module_aliases(
    globals(),
    {
        "fake_quantize": {".observers": _OBSERVERS},
        "observer": {".observers": _OBSERVERS, ".quantization": "HistogramObserver"},
        "qconfig": {
            ".choices": _CHOICES,
            ".quantization": "get_default_qat_qconfig get_default_qconfig",
        },
        "qconfig_mapping": {
            ".choices": "QConfigMapping",
            ".quantization": "get_default_qat_qconfig_mapping get_default_qconfig_mapping",
        },
        "quant_type": {".choices": "QuantType"},
        "quantization_mappings": {},
        "stubs": {".quantization": "DeQuantStub QuantStub QuantWrapper"},
        "quantize": {".choices": "propagate_qconfig_", ".dynamic": "quantize_dynamic"},
    },
)
refusing(
    vars(globals()["quantization_mappings"]),
    "get_default_dynamic_quant_module_mappings get_default_qat_module_mappings "
    "get_default_qconfig_propagation_list get_default_static_quant_module_mappings",
    NotImplementedError,
    _TEXT,
)


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
