"""Which nodes of a graph somebody can compute: as a table, as a function, and as several of both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from ..node import Node
from .tools_common import CALLABLE_NODE_OPS, get_node_target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..._rushlight import dtype
    from ...nn import Module

__all__ = [
    "OpSupports",
    "OperatorSupport",
    "OperatorSupportBase",
    "any_chain",
    "chain",
    "create_op_support",
]


class OperatorSupportBase(ABC):
    """Tells which nodes can be computed."""

    @abstractmethod
    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Tell whether a node can be."""
        raise NotImplementedError


class OperatorSupport(OperatorSupportBase):
    """Nodes that call what stands in a table, with the types of elements that it takes, or `None` for any.

    >>> import rushlight as torch
    >>> known = OperatorSupport({"_operator.add": None})
    >>> graph = torch.fx.symbolic_trace(lambda x: (x + 1) * 2).graph
    >>> [known.is_node_supported({}, node) for node in graph.nodes]
    [True, True, False, True]
    """

    _support_dict: Mapping[str, Any]

    def __init__(self, support_dict: Mapping[str, Any] | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Tell whether what a node calls is in the table; what calls nothing can be computed."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        types = self._support_dict[target]
        if types is None:
            return True
        by_place, by_name = types
        pairs = [(node.args[place], kinds) for place, kinds in enumerate(by_place) if place < len(node.args)]
        pairs += [(node.kwargs[name], kinds) for name, kinds in by_name.items() if name in node.kwargs]
        return all(_type_of(given) in kinds for given, kinds in pairs if isinstance(given, Node))


def _type_of(node: Node) -> dtype | None:
    """Return the type of the elements that a node gives, as shapes that were propagated say."""
    known = node.meta.get("tensor_meta")
    if known is None:
        raise AssertionError(f"Node {node} has no tensor_meta")
    found: dtype | None = known.dtype
    return found


class _Function(OperatorSupportBase):
    def __init__(self, function: Callable[[Mapping[str, Module], Node], bool]) -> None:
        self._function = function

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        return self._function(submodules, node)


def create_op_support(
    is_node_supported: Callable[[Mapping[str, Module], Node], bool],
) -> OperatorSupportBase:
    """Return what asks a function."""
    return _Function(is_node_supported)


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Return what says yes if all of several do."""
    return _Function(lambda modules, node: all(one.is_node_supported(modules, node) for one in op_support))


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Return what says yes if any of several does."""
    return _Function(lambda modules, node: any(one.is_node_supported(modules, node) for one in op_support))


class OpSupports:
    """Answers that are often wanted."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: Any) -> OperatorSupportBase:
        """Say no to nodes that are given elements of a type."""
        return _Function(lambda _, node: all(_type_of(given) is not dtype for given in node.all_input_nodes))

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """Say no to nodes of some names."""
        return _Function(lambda _, node: node.name not in disallow_set)
