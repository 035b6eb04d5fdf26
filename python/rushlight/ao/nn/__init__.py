"""Layers on the way to quantised models: fused ones, operations as modules, and those that are not there."""

from . import intrinsic, qat, quantizable, quantized

__all__ = ["intrinsic", "qat", "quantizable", "quantized"]
