"""`torch.onnx.export`: arguments, names and sizes, around what records and what translates."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor
from ..nn.modules.module import Module
from ..utils import _pytree as pytree
from . import OnnxExporterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["exported"]

# The least version whose operators are written; those of later ones read them as well.
_LEAST, _MOST = 18, 22


def exported(
    model: Any,
    args: Any,
    kwargs: Mapping[str, Any],
    input_names: Sequence[str] | None,
    output_names: Sequence[str] | None,
    version: int | None,
    shapes: Any,
    training: bool | None,
) -> Any:
    """Return the model of a module."""
    try:
        import onnx.helper  # noqa: F401 - it is asked for before anything is recorded
    except ImportError as error:
        raise OnnxExporterError(
            "torch.onnx.export needs the package `onnx`, which is not installed."
        ) from error
    from ._recording import record
    from ._translating import Translation, Unwritten

    model = getattr(model, "graph_module", model)
    if not isinstance(model, Module):
        model = _Function(model)
    args = (args,) if isinstance(args, Tensor) else tuple(args)
    if args and isinstance(args[-1], dict) and not kwargs:
        args, kwargs = args[:-1], args[-1]
    tensors = [one for one in pytree.tree_flatten((args, dict(kwargs)))[0] if isinstance(one, Tensor)]
    inputs = _names(input_names, _parameters(model, args, kwargs), len(tensors), "input")
    sizes = _sizes(shapes, inputs)
    varying = {place: sorted(sizes[name]) for place, name in enumerate(inputs) if sizes.get(name)}
    try:
        recorded = record(model, args, kwargs, varying, training)
        outputs = _names(output_names, [], len(recorded.outputs), "output")
        translation = Translation(recorded, min(max(version or _LEAST, _LEAST), _MOST))
        return translation.translate(inputs, outputs, sizes)
    except (Unwritten, ValueError) as error:
        raise OnnxExporterError(
            f"torch.onnx.export: no operator of the format was found for {error}."
        ) from error


class _Function(Module):
    """A function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        return self._function(*args, **kwargs)


def _parameters(model: Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """Return the names of the arguments of a module that are tensors."""
    function = getattr(model, "_function", model.forward)
    bound = inspect.signature(function).bind(*args, **kwargs)
    names = []
    for name, value in bound.arguments.items():
        inner = [one for one in pytree.tree_flatten(value)[0] if isinstance(one, Tensor)]
        names += [name if len(inner) == 1 else f"{name}_{place}" for place in range(len(inner))]
    return names


def _names(given: Sequence[str] | None, own: Sequence[str], count: int, kind: str) -> list[str]:
    """Return so many names: those that were given, then the own ones, then numbered ones."""
    names = list(given or ())[:count]
    for place in range(len(names), count):
        name = own[place] if place < len(own) else kind if count == 1 else f"{kind}_{place}"
        names.append(name)
    return names


def _sizes(shapes: Any, inputs: Sequence[str]) -> dict[str, dict[int, str]]:
    """Return the names of sizes that vary, by the names of values and by dimensions."""
    if not shapes:
        return {}
    if not isinstance(shapes, dict):
        shapes = dict(zip(inputs, shapes, strict=False))
    found: dict[str, dict[int, str]] = {}
    for name, dims in shapes.items():
        if dims is None:
            continue
        named = dims.items() if isinstance(dims, dict) else ((dim, None) for dim in dims)
        found[name] = {
            dim: one if isinstance(one, str) else getattr(one, "__name__", f"{name}_dim_{dim}")
            for dim, one in named
            if not isinstance(dim, type(None))
        }
    return found
