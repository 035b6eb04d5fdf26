"""What models in the ONNX format are written with: nodes, constants, and the names of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["TYPES", "Writer"]

# The numbers that the format has for element types.
TYPES = {
    native.float32: 1,
    native.uint8: 2,
    native.int8: 3,
    native.int16: 5,
    native.int32: 6,
    native.int64: 7,
    native.bool: 9,
    native.float16: 10,
    native.float64: 11,
    native.complex64: 14,
    native.complex128: 15,
    native.bfloat16: 16,
}


class Writer:
    """A graph that is being written."""

    def __init__(self, version: int) -> None:
        import onnx.helper

        self.onnx, self.version = onnx, version
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self._known: dict[Any, str] = {}
        self._count = 0

    def fresh(self, hint: str) -> str:
        """Return a name that no value has."""
        self._count += 1
        return f"{hint}_{self._count}"

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Write a node, and return the name of its output."""
        return self.add_several(operator, *inputs, outputs=1, **attributes)[0]

    def add_several(self, operator: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:
        """Write a node, and return the names of its outputs."""
        names = [self.fresh(operator.lower()) for _ in range(outputs)]
        given = {name: value for name, value in attributes.items() if value is not None}
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, names, **given))
        return names

    def constant(self, tensor: Tensor, name: str | None = None) -> str:
        """Write numbers, and return their name."""
        name = name or self.fresh("constant")
        if name not in self.constants:
            plain = tensor.detach()
            raw = (plain.view(native.int16) if plain.dtype is native.bfloat16 else plain).numpy().tobytes()
            self.constants[name] = self.onnx.helper.make_tensor(
                name, TYPES[tensor.dtype], list(tensor.shape), raw, raw=True
            )
        return name

    def number(self, value: Any, dtype: Any) -> str:
        """Write one number without dimensions, once."""
        key = (type(value), value, dtype)
        if key not in self._known:
            self._known[key] = self.constant(native.tensor(value, dtype=dtype))
        return self._known[key]

    def ints(self, values: Iterable[int]) -> str:
        """Write a list of whole numbers, once."""
        key = tuple(int(value) for value in values)
        if key not in self._known:
            self._known[key] = self.constant(native.tensor(list(key), dtype=native.int64))
        return self._known[key]

    def described(self, name: str, tensor: Tensor, varying: dict[int, str]) -> Any:
        """Say of which type and size a value is that goes in or out."""
        sizes: list[Any] = [varying.get(dim, size) for dim, size in enumerate(tensor.shape)]
        return self.onnx.helper.make_tensor_value_info(name, TYPES[tensor.dtype], sizes)

    def model(self, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Return the model of all that was written."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, name, inputs, outputs, list(self.constants.values()))
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.version)], producer_name="rushlight"
        )
        model.ir_version = min(model.ir_version, 10)
        return model
