"""Sizes of the nodes of a graph, some of which are unknown: checked, and found by equations."""

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.fx import GraphModule, symbolic_trace
from rushlight.fx.annotate import annotate  # noqa: F401 - torch finds it here.
from rushlight.fx.experimental.graph_gradual_typechecker import GraphTypeChecker, Refine, broadcast_types
from rushlight.fx.experimental.refinement_types import Equality
from rushlight.fx.experimental.rewriter import RewritingTracer
from rushlight.fx.experimental.unify_refinements import infer_symbolic_types
from rushlight.fx.tensor_type import Dyn, TensorType


def checked(module, *types):
    traced = symbolic_trace(module)
    for node, given in zip(traced.graph.nodes, types, strict=False):
        node.type = given
    GraphTypeChecker({}, traced).type_check()
    return traced, [node.type for node in traced.graph.nodes]


LAYERS = nn.Sequential(
    nn.Conv2d(3, 4, 3, padding=1),
    nn.BatchNorm2d(4),
    nn.ReLU(),
    nn.MaxPool2d(2, 2),
    nn.AdaptiveAvgPool2d((None, 7)),
)


def test_sizes_of_layers():
    _, found = checked(LAYERS, TensorType((2, 3, Dyn, 8)))
    assert found[1:] == [
        TensorType((2, 4, Dyn, 8)),
        TensorType((2, 4, Dyn, 8)),
        TensorType((2, 4, Dyn, 8)),
        TensorType((2, 4, Dyn, 4)),
        TensorType((2, 4, 7, 7)),
        TensorType((2, 4, 7, 7)),
    ]
    _, found = checked(nn.Sequential(nn.Linear(2, 3)), TensorType((Dyn, 2)))
    assert found[1] == TensorType((Dyn, 3))


def test_sizes_of_functions():
    _, found = checked(lambda x, y: torch.add(x, y), TensorType((1, 2)), TensorType((3, Dyn)))
    assert found[2] == TensorType((3, Dyn))
    _, found = checked(lambda x: torch.transpose(torch.flatten(x, 1), 0, 1), TensorType((2, 3, 4)))
    assert found[1:3] == [TensorType((2, 12)), TensorType((12, 2))]
    _, found = checked(lambda x: torch.reshape(x, [1, -1, 6]), TensorType((Dyn, 12)))
    assert found[1] == TensorType((1, Dyn, 6))


@pytest.mark.parametrize(
    ("function", "given", "words"),
    [
        (lambda x: torch.transpose(x, 0, 5), TensorType((1, 2)), "Cannot transpose 0 and 5 in type"),
        (lambda x: torch.reshape(x, [5]), TensorType((1, 2)), "Cannot reshape in node reshape from"),
        (lambda x: torch.flatten(x, 1, 3), TensorType((1, 2)), "Incompatible dimensions 1, 3 in type"),
        (nn.Sequential(nn.Linear(2, 3)), TensorType((1, 5)), "Inconsistent 2 and 5 in Linear"),
        (nn.Sequential(nn.Conv2d(3, 4, 3)), TensorType((1, 2, 3, 4)), "Cannot apply Conv2d"),
        (nn.Sequential(nn.MaxPool2d(2)), TensorType((1, 2)), "Wrong size TensorType"),
    ],
)
def test_sizes_that_cannot_be(function, given, words):
    with pytest.raises(TypeError, match=words):
        checked(function, given)


def test_what_has_no_rule():
    with pytest.raises(RuntimeError, match="No inference rule registered for class"):
        checked(nn.Sequential(nn.Tanh()))
    with pytest.raises(TypeError, match="Cannot broadcast types"):
        broadcast_types(3, TensorType((1,)))


def test_equations_between_sizes():
    traced, _ = checked(LAYERS, TensorType((Dyn, 3, Dyn, 8)))
    refined = Refine(traced)
    refined.refine()
    assert repr(refined.constraints[0]) == "~0 = ~2" and refined.constraints[0] != Equality(1, 2)
    traced, _ = checked(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), TensorType((Dyn, 2)))
    pytest.importorskip("sympy")
    infer_symbolic_types(traced)
    types = [node.type for node in traced.graph.nodes]
    assert types[0].dims[0] == types[1].dims[0] == types[2].dims[0] and str(types[0].dims[0]).startswith("~")


def test_types_beside_assignments_are_those_of_nodes():
    class Typed(nn.Module):
        def forward(self, x: TensorType((1, 2))):
            y: TensorType((1, Dyn)) = x + x
            return y

    tracer = RewritingTracer()
    graph = tracer.trace(Typed())
    assert [node.type for node in graph.nodes][:2] == [TensorType((1, 2)), TensorType((1, Dyn))]
    assert GraphModule(tracer.root, graph)(torch.ones(1)).tolist() == [2]
