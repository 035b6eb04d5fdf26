"""Sizes and types at every node of a graph, from running it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ... import _rushlight as native
from ..._rushlight import Tensor
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

if TYPE_CHECKING:
    from ..graph_module import GraphModule

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is known of a tensor besides its numbers."""

    shape: native.Size
    dtype: native.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: native.memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    order = None
    if include_contiguity:
        orders = (native.contiguous_format, native.channels_last, native.channels_last_3d)
        fitting = (
            one for one, wanted in zip(orders, (None, 4, 5), strict=True) if wanted in (None, result.dim())
        )
        order = next((one for one in fitting if result.is_contiguous(memory_format=one)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), order, False, {})


class ShapeProp(Interpreter):
    """Runs a graph, and puts what is known of every tensor into `node.meta["tensor_meta"]`.

    >>> import rushlight as torch
    >>> from rushlight.fx.passes.shape_prop import ShapeProp
    >>> traced = torch.fx.symbolic_trace(lambda x: x @ x.t())
    >>> _ = ShapeProp(traced).propagate(torch.ones(2, 3))
    >>> [tuple(node.meta["tensor_meta"].shape) for node in traced.graph.nodes]
    [(2, 3), (3, 2), (2, 2), (2, 2)]
    """

    def __init__(self, gm: GraphModule, fake_mode: Any = None) -> None:
        super().__init__(gm)

    def run_node(self, n: Node) -> Any:
        """Run a node, and note what is known of its tensors."""
        try:
            result = super().run_node(n)
        except Exception as error:
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        found = False

        def note(one: Any) -> Any:
            nonlocal found
            if not isinstance(one, Tensor):
                return one
            found = True
            return _extract_tensor_metadata(one)

        known = map_aggregate(result, note)
        if found:
            n.meta["tensor_meta"] = known
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph, and return what it returns."""
        return super().run(*args)
