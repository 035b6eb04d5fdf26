"""Models in the ONNX format: none are written, and programs that ask are told so.

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
    from collections.abc import Callable

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
add_module_aliases(globals(), {"_internal": {}})
add_module_aliases(vars(_internal), {"exporter": {".": "ONNXProgram"}})  # type: ignore[name-defined]  # noqa: F821

_symbolics: dict[tuple[str, int], Callable[..., Any]] = {}


class TrainingMode(IntEnum):
    """In which mode a model would be written."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(IntEnum):
    """As which operators operations would be written."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class ONNXProgram:
    """A model in the format. None is ever made."""


class OnnxExporterError(RuntimeError):
    """A model cannot be written."""


def export(model: Any, args: Any = (), f: Any = None, **options: Any) -> Any:
    """Refuse: models are not written in this format.

    >>> import rushlight as torch
    >>> torch.onnx.export(torch.nn.ReLU(), torch.ones(1), "relu.onnx")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    rushlight.onnx.OnnxExporterError: torch.onnx.export: models are not written as ONNX here. Save ...
    """
    raise OnnxExporterError(
        "torch.onnx.export: models are not written as ONNX here. Save `module.state_dict()`, and export the "
        "model where torch is installed."
    )


def is_in_onnx_export() -> bool:
    """Tell whether a model is being written: never."""
    return False


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
