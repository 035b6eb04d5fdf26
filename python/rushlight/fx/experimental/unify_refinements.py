"""Sizes of every node of a graph, as far as equations between them tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tensor_type import TensorType
from .graph_gradual_typechecker import Refine
from .unification import Equality, Var, unify

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..graph import Graph
    from ..graph_module import GraphModule

__all__ = [
    "check_for_type_equality",
    "convert_eq",
    "infer_symbolic_types",
    "infer_symbolic_types_single_pass",
    "substitute_all_types",
    "substitute_solution_one_type",
    "unify_eq",
]


def infer_symbolic_types_single_pass(traced: GraphModule) -> Refine:
    """Write the equations of a graph, and what they tell to its nodes."""
    refined = Refine(traced)
    refined.refine()
    substitute_all_types(traced.graph, unify_eq(refined.constraints))
    return refined


def infer_symbolic_types(traced: GraphModule) -> None:
    """Do so twice, since broadcasts are known once their operands are, and write other sizes by these."""
    infer_symbolic_types_single_pass(traced)
    infer_symbolic_types_single_pass(traced).symbolic_relations()


def convert_eq(list_of_eq: Sequence[Equality]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the left sides of equations, and the right ones."""
    return tuple(each.lhs for each in list_of_eq), tuple(each.rhs for each in list_of_eq)


def unify_eq(list_of_eq: Sequence[Equality]) -> Any:
    """Return what solves equations."""
    return unify(*convert_eq(list_of_eq))


def substitute_solution_one_type(mapping: Mapping[Any, Any], t: Any) -> Any:
    """Return a type with what is known in it."""
    if isinstance(t, TensorType):
        return TensorType(tuple(substitute_solution_one_type(mapping, size) for size in t.dims))
    if isinstance(t, (list, tuple)):
        return type(t)([substitute_solution_one_type(mapping, one) for one in t])
    return mapping.get(t, t) if isinstance(t, Var) else t


def substitute_all_types(graph: Graph, mapping: dict[Any, Any]) -> None:
    """Write what is known to all nodes."""
    for one in mapping:
        while isinstance(mapping[one], Var) and mapping[one] in mapping:
            mapping[one] = mapping[mapping[one]]
    for node in graph.nodes:
        node.type = substitute_solution_one_type(mapping, node.type)


def check_for_type_equality(g1: Graph, g2: Graph) -> bool:
    """Tell whether the nodes of two graphs have the same types."""
    return all(one.type == other.type for one, other in zip(g1.nodes, g2.nodes, strict=False))
