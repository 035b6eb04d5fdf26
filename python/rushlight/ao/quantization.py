"""Quantisation: models may have the places where numbers would become integers; they stay what they are.

>>> import rushlight as torch
>>> torch.ao.quantization.QuantStub()(torch.ones(1))
tensor([1.])
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._devices.absent import refusing
from ..nn.modules.module import Module

__all__ = ["DeQuantStub", "QConfig", "QuantStub", "QuantWrapper"]

_REFUSED = (
    "convert fuse_modules fuse_modules_qat get_default_qat_qconfig get_default_qconfig prepare prepare_qat "
    "quantize quantize_dynamic quantize_qat"
)
refusing(
    globals(),
    _REFUSED,
    NotImplementedError,
    "torch.ao.quantization: models are not quantised here; they compute with the numbers that they have",
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
