"""What libraries that trace take beside the tracer: types of tensors, annotations, passes, parts of modules."""

import pytest
import rushlight as torch
from rushlight.fx.annotate import annotate
from rushlight.fx.graph_module import _CodeOnlyModule, _copy_attr
from rushlight.fx.passes.infra.pass_base import PassBase, PassResult
from rushlight.fx.tensor_type import Dyn, TensorType, is_consistent, is_more_precise


def test_types_by_sizes():
    known, open_ended = TensorType((1, 2, 3)), TensorType((1, Dyn, 3))
    assert repr(open_ended) == "TensorType[(1, Dyn, 3)]" and TensorType[1, 2, 3] == known
    assert is_consistent(known, open_ended) and is_consistent(int, Dyn)
    assert not is_consistent(known, TensorType((1, 2)))
    assert is_more_precise(known, open_ended) and not is_more_precise(open_ended, known)


def test_types_by_sizes_are_written_in_code():
    class Sized(torch.nn.Module):
        def forward(self, x: TensorType((1, Dyn)), y: list[TensorType((2,))]) -> TensorType((3,)):
            return torch.add(x, y)

    traced = torch.fx.symbolic_trace(Sized())
    sized = "torch.fx.tensor_type.TensorType"
    assert (
        f"x : {sized}[_1,torch.fx.tensor_type._DynType], y : list[{sized}[_2]]) -> {sized}[_3]:"
        in traced.code
    )
    assert next(node.type for node in traced.graph.nodes) == TensorType((1, Dyn))


def test_a_value_is_annotated_once():
    assert annotate(3, int) == 3

    class Annotated(torch.nn.Module):
        def forward(self, x):
            return annotate(x, torch.Tensor) + 1

    graph = torch.fx.symbolic_trace(Annotated()).graph
    assert next(iter(graph.nodes)).type is torch.Tensor

    class Twice(torch.nn.Module):
        def forward(self, x):
            return annotate(annotate(x, int), int)

    with pytest.raises(RuntimeError, match="Tried to annotate a value that already had a type on it!"):
        torch.fx.symbolic_trace(Twice())


def test_a_pass_checks_before_and_after():
    seen = []

    class Renamed(PassBase):
        def requires(self, graph_module):
            seen.append("before")

        def call(self, graph_module):
            seen.append("now")
            return PassResult(graph_module, False)

        def ensures(self, graph_module):
            seen.append("after")

    traced = torch.fx.symbolic_trace(torch.nn.ReLU())
    found = Renamed()(traced)
    assert found.graph_module is traced and found.modified is False
    assert seen == ["before", "now", "after"]


def test_parts_of_a_module_are_taken_along():
    net = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(2, 3)))
    target = torch.nn.Module()
    _copy_attr(net, target, "0.0.weight")
    assert target.get_submodule("0.0").weight is net[0][0].weight
    assert _CodeOnlyModule(vars(net)).get_submodule("0.0") is net[0][0]
