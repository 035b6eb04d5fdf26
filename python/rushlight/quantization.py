"""Quantisation, where it was found once. Use `rushlight.ao.quantization`."""

from __future__ import annotations

from .ao.quantization import DeQuantStub, QConfig, QuantStub, QuantWrapper

__all__ = ["DeQuantStub", "QConfig", "QuantStub", "QuantWrapper"]
