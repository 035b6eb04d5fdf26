"""The names of the ONNX format where torch's compiled module has them."""

from __future__ import annotations

from ...onnx import OperatorExportTypes, TensorProtoDataType, TrainingMode

__all__ = ["OperatorExportTypes", "TensorProtoDataType", "TrainingMode"]
