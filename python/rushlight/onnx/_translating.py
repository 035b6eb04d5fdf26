"""From recorded operators to a model in the ONNX format, a node after the other."""

from __future__ import annotations

from operator import getitem
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor
from ..fx.experimental.proxy_tensor import place_of
from ..fx.node import Node
from . import _elementwise, _structured
from ._writing import TYPES, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._recording import Recorded

__all__ = ["Translation", "Unwritten"]

_FUNCTIONS = {**_elementwise.FUNCTIONS, **_structured.FUNCTIONS}


# What has the form of a tensor, and no number of it.
_OF_FORMS = frozenset(
    ["empty_like", "full_like", "new_empty", "new_full", "new_ones", "new_zeros", "ones_like", "zeros_like"]
)


class Unwritten(Exception):
    """There is nothing that an operator could be written as."""


class Translation(Writer):
    """A graph that is written while the nodes of another are read."""

    operator = ""
    node: Node

    def __init__(self, recorded: Recorded, version: int) -> None:
        super().__init__(version)
        self.recorded = recorded
        self._names: dict[Node, Any] = {}
        self._depends = set(recorded.inputs)
        for node in recorded.module.graph.nodes:
            if not self._is_form(node) and any(one in self._depends for one in node.all_input_nodes):
                self._depends.add(node)

    def _is_form(self, node: Node) -> bool:
        """Tell whether a node reads only the form of a tensor, which does not vary."""
        packet = getattr(node.target, "_packet", None)
        is_form = packet is not None and packet.__name__ in _OF_FORMS
        if is_form and self.recorded.varies and node.all_input_nodes:
            self.operator = packet.__name__  # type: ignore[union-attr]
            raise self.unknown("of a size that varies")
        return is_form

    def name(self, node: Any) -> str:
        """Return the name of a value; what does not depend on the inputs is a constant."""
        if not isinstance(node, Node):
            raise self.unknown(f"of {type(node).__name__}")
        if node not in self._names:
            value = _read(self.recorded.module, node)
            self._names[node] = self.constant(value, self.recorded.names.get(place_of(value)))
        found: str = self._names[node]
        return found

    def result_type(self) -> Any:
        """Return the element type of what the node gives."""
        return self.node.meta["val"].dtype

    def result_shape(self) -> Any:
        """Return the sizes of what the node gives."""
        return self.node.meta["val"].shape

    def ndim(self) -> int:
        """Return how many dimensions that has."""
        return len(self.result_shape())

    def cast(self, name: str, dtype: Any) -> str:
        """Write a conversion."""
        found: str = self.add("Cast", name, to=TYPES[dtype])
        return found

    def promoted(self, *operands: Any) -> list[str]:
        """Return the names of operands, of which some may be numbers, in the type that they have together."""
        values = [one.meta["val"] if isinstance(one, Node) else one for one in operands]
        dtype = _common_type(values)
        names = []
        for one, value in zip(operands, values, strict=True):
            if not isinstance(one, Node):
                names.append(self.number(one, dtype))
            else:
                names.append(self.name(one) if value.dtype == dtype else self.cast(self.name(one), dtype))
        return names

    def unknown(self, how: str = "") -> Unwritten:
        """Return the error of an operator that is not written, or not so."""
        return Unwritten(f"aten.{self.operator} {how}".strip())

    def translate(
        self, inputs: Sequence[str], outputs: Sequence[str], sizes: Mapping[str, dict[int, str]]
    ) -> Any:
        """Return the model, with names for what goes in and out, and for sizes that vary."""
        self._names.update(zip(self.recorded.inputs, inputs, strict=True))
        for node in self.recorded.module.graph.nodes:
            if node in self._depends and node.op == "call_function":
                self.node = node
                self._names[node] = self._written(node)
        for node, name in zip(self.recorded.outputs, outputs, strict=True):
            # A value may be an input, a constant, or go out twice.
            self.nodes.append(self.onnx.helper.make_node("Identity", [self.name(node)], [name]))
        return self.model(
            "main_graph",
            [
                self.described(name, node.meta["val"], sizes.get(name, {}))
                for name, node in zip(inputs, self.recorded.inputs, strict=True)
            ],
            [
                self.described(name, _read(self.recorded.module, node), sizes.get(name, {}))
                for name, node in zip(outputs, self.recorded.outputs, strict=True)
            ],
        )

    def _written(self, node: Node) -> Any:
        args, kwargs = self.recorded.arguments[node]
        if node.target is getitem:
            names = self._names[args[0]]
            # An operator of which only the first result is written.
            if isinstance(names, str) and args[1] != 0:
                raise Unwritten(f"result {args[1]} of {args[0].target}")
            return names if isinstance(names, str) else names[args[1]]
        packet: Any = node.target
        self.operator = packet._packet.__name__.removesuffix("_")
        if packet._packet.__name__.endswith("_") and _is_view(args[0]):
            raise self.unknown("into a view")
        function = _FUNCTIONS.get(self.operator)
        if function is None:
            raise self.unknown()
        return function(self, *args, **kwargs)


def _common_type(values: Sequence[Any]) -> Any:
    """Return the element type of several tensors and numbers together."""
    if any(isinstance(one, Tensor) for one in values):
        # Numbers last: what is only a number is of the type of the tensors, if it can be.
        values = sorted(values, key=lambda one: not isinstance(one, Tensor))
    first, *others = values
    dtype = first.dtype if isinstance(first, Tensor) else native.result_type(first, first)
    for other in others:
        tensor = native.empty(getattr(first, "shape", ()), dtype=dtype)
        dtype = native.result_type(tensor, other)
    return dtype


def _is_view(node: Any) -> bool:
    """Tell whether a value is a part of another one, or another look at it."""
    schema = getattr(getattr(node, "target", None), "_schema", None)
    return schema is not None and any(
        one.alias_info is not None and not one.alias_info.is_write for one in schema.returns
    )


def _read(module: Any, node: Node) -> Tensor:
    """Return the value that a node had when it was recorded."""
    if node.op == "get_attr":
        found: Tensor = getattr(module, str(node.target))
        return found
    value: Tensor = node.meta["val"]
    return value
