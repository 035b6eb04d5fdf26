"""Graphs of functions that are made functional: writes in place are computations, and inputs are copied to last."""

import pytest
import rushlight as torch
from rushlight.func import functionalize
from rushlight.fx.experimental.proxy_tensor import make_fx
from support import raises

aten = torch.ops.aten


def traced(function, x, **options):
    return make_fx(functionalize(function, **options))(x)


def targets(module):
    return [
        str(node.target).removeprefix("aten.") for node in module.graph.nodes if node.op == "call_function"
    ]


def write_twice(x):
    y = x.clone()
    y.add_(1)
    y.mul_(2)
    return y


def write_to_input(x):
    x.add_(1)
    return x * 2


def write_to_row(x):
    y = x.clone()
    y[0].add_(1)
    return y


def write_to_part(x):
    y = torch.zeros(2, 3)
    y[:, 1:2] = x[:, :1]
    return y + 1


def write_to_form(x):
    y = x.clone()
    row = y.view(6)
    row.add_(1)
    return y, row


def read_after_write(x):
    y = x.clone()
    turned = y.t()
    y.mul_(2)
    return turned + 1


def write_to_row_of_columns(x):
    y = x.clone()
    y.t().unsqueeze(0)[0, 1].mul_(5)
    y.diagonal().zero_()
    return y.permute(1, 0)


def fill(x):
    y = x.clone()
    y.copy_(x[0])
    y.zero_()
    y.fill_(3)
    return torch.relu_(y)


def write_chosen(x):
    y = x + 1
    y[x > 2] = 0
    return y


SAMPLES = {
    write_twice: ["clone.default", "add.Tensor", "mul.Tensor"],
    write_to_input: ["add.Tensor", "mul.Tensor", "copy_.default"],
    write_to_row: ["clone.default", "select.int", "add.Tensor", "select_scatter.default"],
    write_to_part: [
        "zeros.default",
        "slice.Tensor",
        "slice.Tensor",
        "copy.default",
        "slice_scatter.default",
        "add.Tensor",
    ],
    write_to_form: ["clone.default", "view.default", "add.Tensor", "view.default", "view.default"],
    read_after_write: ["clone.default", "mul.Tensor", "t.default", "add.Tensor"],
    fill: ["clone.default", "select.int", "copy.default", "zero.default", "fill.Scalar", "relu.default"],
}


@pytest.mark.own
@pytest.mark.parametrize("function", SAMPLES)
def test_writes_are_recorded_as_computations(function):
    assert targets(traced(function, torch.ones(2, 3))) == SAMPLES[function]


@pytest.mark.parametrize("function", [*SAMPLES, write_to_row_of_columns, write_chosen])
def test_the_graph_computes_what_the_function_does(function):
    module = traced(function, torch.ones(2, 3))
    assert not any("_." in one for one in targets(module) if one != "copy_.default")
    x = torch.arange(6.0).view(2, 3)
    one, other = x.clone(), x.clone()
    wanted, found = function(one), module(other)
    torch.testing.assert_close(found, wanted)
    assert one.equal(other)


def test_views_can_be_copies():
    module = traced(write_to_row, torch.ones(2, 3), remove="mutations_and_views")
    assert aten.select_copy.int in {node.target for node in module.graph.nodes}
    x = torch.arange(6.0).view(2, 3)
    assert module(x).equal(write_to_row(x))


def test_other_functions_are_recorded_as_they_write():
    assert targets(make_fx(write_twice)(torch.ones(2))) == ["clone.default", "add_.Tensor", "mul_.Tensor"]
    with raises(RuntimeError, "functionalize(f, remove='mutations'): received invalid argument for"):
        functionalize(write_twice, remove="other")
