"""Models in the ONNX format: what a module computes is recorded, and written with the package `onnx`.

>>> import rushlight as torch
>>> torch.onnx.is_in_onnx_export()
False
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from .._lazy import on_first_use
from .._module_aliases import add_module_aliases

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "OnnxExporterError",
    "OperatorExportTypes",
    "TrainingMode",
    "export",
    "is_in_onnx_export",
    "is_onnxrt_backend_supported",
    "register_custom_op_symbolic",
    "unregister_custom_op_symbolic",
]

__getattr__, __dir__ = on_first_use(globals(), rooms={"operators", "symbolic_helper"})

# Where the ways are to write operators in a version of the format: there are none in any.
add_module_aliases(globals(), {f"symbolic_opset{version}": {} for version in range(7, 21)})
add_module_aliases(globals(), {"symbolic_opset9": {".symbolic_helper": "_prepare_onnx_paddings"}})
add_module_aliases(globals(), {"_internal": {}})
add_module_aliases(vars(_internal), {"exporter": {".": "ONNXProgram"}})  # type: ignore[name-defined]  # noqa: F821

_symbolics: dict[tuple[str, int], Callable[..., Any]] = {}


class TrainingMode(IntEnum):
    """In which mode a model is written."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(IntEnum):
    """As which operators operations are written: those of the format."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


TensorProtoDataType = IntEnum(
    "TensorProtoDataType",
    "UNDEFINED FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 "
    "COMPLEX128 BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ",
    start=0,
)
"""The numbers by which the format names element types."""


class ONNXProgram:
    """A model in the format."""

    def __init__(self, model_proto: Any) -> None:
        self.model_proto = model_proto

    def save(self, destination: Any, **options: Any) -> None:
        """Write the model to a file."""
        _write(self.model_proto, destination)


class OnnxExporterError(RuntimeError):
    """A model cannot be written."""


def export(
    model: Any,
    args: Any = (),
    f: Any = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    verbose: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamo: bool = True,
    dynamic_axes: Any = None,
    dynamic_shapes: Any = None,
    training: TrainingMode = TrainingMode.EVAL,
    **options: Any,
) -> ONNXProgram | None:
    """Write what a module computes of `args` as a model in the ONNX format, to the file `f` if that is given.

    The module is recorded as it runs with these arguments: what depends on values stays what it was, and so
    do sizes, but for those that `dynamic_axes` or `dynamic_shapes` name.

    >>> import rushlight as torch
    >>> torch.onnx.export(torch.nn.ReLU(), (torch.ones(1),), "relu.onnx")  # doctest: +SKIP
    """
    from ._exporting import exported

    shapes = dynamic_axes if dynamic_axes is not None else dynamic_shapes
    mode = None if training is TrainingMode.PRESERVE else training is TrainingMode.TRAINING
    proto = exported(model, args, kwargs or {}, input_names, output_names, opset_version, shapes, mode)
    if f is not None:
        _write(proto, f)
    return ONNXProgram(proto) if dynamo else None


def _write(proto: Any, destination: Any) -> None:
    if hasattr(destination, "write"):
        destination.write(proto.SerializeToString())
        return
    with open(destination, "wb") as file:
        file.write(proto.SerializeToString())


def is_in_onnx_export() -> bool:
    """Tell whether a model is being written."""
    from ._recording import under_way

    return bool(under_way)


def is_onnxrt_backend_supported() -> bool:
    """Tell whether models can be run by another library: no."""
    return False


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int
) -> None:
    """Say how an operator would be written. It is kept, and nobody asks for it."""
    if symbolic_name.startswith("::"):
        symbolic_name = f"aten{symbolic_name}"
    _symbolics[symbolic_name, opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forget how an operator would be written."""
    if symbolic_name.startswith("::"):
        symbolic_name = f"aten{symbolic_name}"
    _symbolics.pop((symbolic_name, opset_version), None)
