"""Graphs that programs make and change, run and transform."""

import operator

import pytest
import rushlight as torch
from rushlight import fx
from support import raises


def small():
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.add, (x, 2))
    z = graph.call_method("relu", (y,))
    graph.output(z)
    return graph, x, y, z


def test_a_graph_is_made_by_hand():
    graph, x, y, z = small()
    graph.lint()
    assert [node.name for node in graph.nodes] == ["x", "add", "relu", "output"] and len(graph.nodes) == 4
    assert y.all_input_nodes == [x] and list(y.users) == [z] and z.prev is y
    module = fx.GraphModule(torch.nn.Module(), graph)
    assert module(torch.tensor([-3.0])).item() == 0.0
    assert type(module).__name__ == "GraphModule"
    assert graph.find_nodes(op="call_function", target=torch.add) == [y] and x < z and z > y


def test_a_node_that_is_used_stays():
    graph, _, y, _ = small()
    text = "Tried to erase Node add but it still had 1 users in the graph: {relu: None}!"
    with raises(RuntimeError, text):
        graph.erase_node(y)


def test_nodes_are_exchanged():
    graph, x, y, z = small()
    with graph.inserting_after(y):
        new = graph.call_function(torch.mul, (x, 3))
    y.replace_all_uses_with(new)
    graph.erase_node(y)
    graph.lint()
    module = fx.GraphModule(torch.nn.Module(), graph)
    assert module(torch.ones(1)).item() == 3.0 and z.args == (new,)


def test_nodes_that_nobody_uses_go():
    graph, x, _y, z = small()
    with graph.inserting_before(z):
        graph.call_function(torch.sin, (x,))
    assert graph.eliminate_dead_code() and not graph.eliminate_dead_code()
    assert [node.name for node in graph.nodes] == ["x", "add", "relu", "output"]


def test_arguments_are_not_changed_in_place():
    graph = fx.Graph()
    x = graph.placeholder("x")
    node = graph.call_function(torch.cat, ([x, x],))
    with pytest.raises(TypeError, match="'immutable_list' object does not support mutation"):
        node.args[0].append(x)


def test_wrong_graphs_are_found():
    graph, _, y, z = small()
    y.args = (z, 2)
    with pytest.raises(RuntimeError, match="was used before it has been defined"):
        graph.lint()
    other, *_ = small()
    graph, _x, y, z = small()
    y.args = (next(iter(other.nodes)), 2)
    with pytest.raises(RuntimeError, match="does not belong to this Graph"):
        graph.lint()


def test_names_are_given_once():
    graph = fx.Graph()
    names = [graph.placeholder(name).name for name in ("x", "x", "x_1", "sum", "class", "1a", "a.b")]
    assert names == ["x", "x_1", "x_2", "sum_1", "class_1", "_1a", "a_b"]


def test_attributes_have_to_be_there():
    graph = fx.Graph()
    graph.output(graph.get_attr("weight"))
    with raises(
        RuntimeError, "Node weight referenced target weight but that target was not provided in ``root``!"
    ):
        fx.GraphModule({}, graph)
    assert fx.GraphModule({"weight": torch.ones(1)}, graph)().item() == 1.0


def test_values_of_nodes_are_used_as_values():
    graph, _x, y, z = small()
    with graph.inserting_before(z):
        value = (fx.Proxy(y) + 1).cos()
    assert repr(value) == "Proxy(cos)" and [node.name for node in graph.nodes][2:4] == ["add_1", "cos"]


def test_graphs_are_run_node_by_node():
    traced = fx.symbolic_trace(lambda x, y=2: (x.relu() * y, {"k": x + 1}))
    x = torch.tensor([-1.0, 2.0])
    first, second = fx.Interpreter(traced).run(x)
    assert first.tolist() == [0.0, 4.0] and second["k"].tolist() == [0.0, 3.0]
    with raises(RuntimeError, "Expected positional argument for parameter x, but one was not passed in!"):
        fx.Interpreter(traced).run()


def test_graphs_are_transformed_node_by_node():
    class Negated(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(operator.sub if target is operator.add else target, args, kwargs)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.linear(x) + 1

    model = Model()
    changed = Negated(fx.symbolic_trace(model)).transform()
    x = torch.ones(2)
    assert torch.allclose(changed(x), model(x) - 2) and "linear - 1" in changed.code


def test_patterns_are_replaced():
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.relu(torch.sigmoid(x)) + torch.relu(torch.sigmoid(torch.relu(x)))

    traced = fx.symbolic_trace(Model())
    found = fx.replace_pattern(traced, lambda x: torch.relu(torch.sigmoid(x)), lambda x: torch.tanh(x))
    assert len(found) == 2
    assert "sigmoid" not in traced.code and [node.name for node in traced.graph.nodes] == [
        "x",
        "relu_1",
        "tanh",
        "tanh_1",
        "add",
        "output",
    ]
    x = torch.randn(3)
    assert traced(x).equal(x.tanh() + x.relu().tanh())
    traced.graph.lint()


def test_a_pattern_whose_inside_is_used_elsewhere_stays():
    def function(x):
        inner = torch.sigmoid(x)
        return torch.relu(inner) + inner

    traced = fx.symbolic_trace(function)
    assert not fx.replace_pattern(traced, lambda x: torch.relu(torch.sigmoid(x)), lambda x: x)
    assert "sigmoid" in traced.code


def test_shapes_are_found():
    from rushlight.fx.passes.shape_prop import ShapeProp

    traced = fx.symbolic_trace(lambda x: (x @ x.t()).split(1))
    ShapeProp(traced).propagate(torch.ones(2, 3))
    found = {node.name: node.meta["tensor_meta"] for node in traced.graph.nodes if node.op.startswith("call")}
    assert (
        tuple(found["t"].shape) == (3, 2) and found["t"].stride == (1, 3) and found["t"].memory_format is None
    )
    assert [tuple(one.shape) for one in found["split"]] == [(1, 2), (1, 2)]
    assert found["matmul"].memory_format is torch.contiguous_format


def test_submodules_come_and_go():
    traced = fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(1, 1)))
    assert traced.add_submodule("a.b", torch.nn.ReLU()) and isinstance(
        traced.get_submodule("a.b"), torch.nn.ReLU
    )
    traced.delete_all_unused_submodules()
    assert [name for name, _ in traced.named_modules()] == ["", "0"]
    assert traced.delete_submodule("0") and not traced.delete_submodule("0")


def test_operators_below_autograd_are_recorded():
    from rushlight.fx.experimental.proxy_tensor import make_fx

    weight = torch.nn.Linear(2, 2)
    x = torch.randn(1, 2)
    graph = make_fx(lambda x: weight(x).sin())(x)
    assert (
        graph.code.strip()
        == """\
def forward(self, x_1):
    _param_constant0 = self._param_constant0
    t = torch.ops.aten.t.default(_param_constant0);  _param_constant0 = None
    _param_constant1 = self._param_constant1
    addmm = torch.ops.aten.addmm.default(_param_constant1, x_1, t);  _param_constant1 = x_1 = t = None
    sin = torch.ops.aten.sin.default(addmm);  addmm = None
    return sin"""
    )
    other = torch.randn(1, 2)
    assert graph(other).equal(weight(other).sin())


def test_derivatives_are_recorded():
    from rushlight.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(torch.func.grad(lambda x: (x.sin() * x).sum()))(torch.randn(3))
    x = torch.randn(3)
    assert torch.allclose(graph(x), x.cos() * x + x.sin())


def test_nested_arguments_are_recorded():
    from rushlight.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(lambda d, y: {"z": d["a"] * y})({"a": torch.ones(2)}, torch.ones(2))
    assert graph({"a": torch.full((2,), 3.0)}, torch.full((2,), 2.0))["z"].tolist() == [6.0, 6.0]


def test_decompositions_take_the_place_of_operators():
    from rushlight.fx.experimental.proxy_tensor import make_fx

    table = {torch.ops.aten.relu.default: lambda x: torch.ops.aten.clamp.default(x, 0)}
    code = make_fx(lambda x: torch.relu(x), decomposition_table=table)(torch.ones(2)).code
    assert "aten.clamp.default(x_1, 0)" in code and "relu" not in code


class GoesByValues(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)
        self.shift = torch.arange(3.0)

    def forward(self, x, *, scale=None):
        y = self.second(self.first(x))
        if float(x.sum()) > 0:  # No symbol has a sign.
            y = y.relu()
        return {"y": y + self.shift, "scaled": y if scale is None else y * scale}


def test_a_module_whose_way_depends_on_values_is_exported_on_the_way_of_its_example():
    torch.manual_seed(0)
    model = GoesByValues().eval()
    x, scale = torch.ones(2, 2), torch.tensor(3.0)
    program = torch.export.export(model, (x,), {"scale": scale})
    assert {"first.weight", "first.bias", "second.running_mean"} <= set(program.state_dict)
    assert not [name for name, _ in model.named_buffers() if "constant" in name]
    other = torch.tensor([[0.5, 2.0], [1.0, 0.25]])
    found, wanted = program.module()(other, scale), model(other, scale=scale)
    for name, value in wanted.items():
        torch.testing.assert_close(found[name], value)
    assert torch.export.exported_program.ExportedProgram is type(program)
    with raises(
        RuntimeError, "Unable to call ExportedProgram directly. You should use `exported_program.module()`"
    ):
        program(x, scale)


def test_inputs_without_a_default_have_none_afterwards():
    moved = torch.fx.Transformer(torch.fx.symbolic_trace(lambda x, y=None: x)).transform()
    assert [node.args for node in moved.graph.nodes][:2] == [(), (None,)]


def test_columns_of_a_table_are_wider_than_their_titles(capsys):
    graph = fx.Graph()
    graph.output(graph.call_module("relu", (graph.placeholder("x"),)))
    graph.print_tabular()
    assert capsys.readouterr().out.splitlines() == [
        "opcode       name    target    args     kwargs",
        "-----------  ------  --------  -------  --------",
        "placeholder  x       x         ()       {}",
        "call_module  relu    relu      (x,)     {}",
        "output       output  output    (relu,)  {}",
    ]


def test_the_graph_returns_what_the_function_says_that_it_returns():
    from rushlight.fx.experimental.proxy_tensor import make_fx

    def plus_one(x) -> torch.Tensor:
        return x + 1

    assert "def forward(self, x_1) -> torch.Tensor:" in make_fx(plus_one)(torch.ones(2)).code
    assert (
        "def forward(self, x_1) -> torch.Tensor:"
        in make_fx(torch.func.functionalize(plus_one))(torch.ones(2)).code
    )
