"""Passes over graphs: modules split, constants folded, nodes of the same left once, patterns found."""

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.fx import symbolic_trace
from rushlight.fx.experimental.const_fold import get_unique_attr_name_in_module, split_const_subgraphs
from rushlight.fx.passes.dialect.common.cse_pass import CSEPass, get_CSE_banned_ops
from rushlight.fx.passes.infra.pass_base import PassResult
from rushlight.fx.passes.infra.pass_manager import (
    PassManager,
    pass_result_wrapper,
    this_before_that_pass_constraint,
)
from rushlight.fx.passes.split_module import split_module
from rushlight.fx.passes.utils.matcher_utils import SubgraphMatcher
from rushlight.fx.passes.utils.source_matcher_utils import check_subgraphs_connected, get_source_partitions


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([3.0]))
        self.inner = nn.Sequential(nn.Linear(1, 1))

    def forward(self, x, y=None):
        a = x + self.weight
        b = self.inner(a)
        return a * b, b


def test_a_module_split_into_parts():
    net = symbolic_trace(Net())
    names = {}
    split = split_module(net, net, lambda node: int(node.name in ("mul",)), names)
    assert split.code.split("\n", 3)[3].strip() == (
        "def forward(self, x, y = None):\n"
        "    weight = self.weight\n"
        "    submod_0 = self.submod_0(x, weight);  x = weight = None\n"
        "    getitem = submod_0[0]\n"
        "    getitem_1 = submod_0[1];  submod_0 = None\n"
        "    submod_1 = self.submod_1(getitem, getitem_1);  getitem = None\n"
        "    return (submod_1, getitem_1)"
    )
    assert names == {"submod_0.inner_0": "inner.0"}
    x = torch.tensor([2.0])
    assert all(torch.equal(one, other) for one, other in zip(split(x), net(x), strict=True))


def test_a_part_that_needs_itself_is_refused():
    net = symbolic_trace(lambda x: ((x + 1) * 2) - 3)
    with pytest.raises(RuntimeError, match="cycle exists between partitions!"):
        split_module(net, net, lambda node: int(node.name == "mul"))


def test_a_part_may_return_a_tuple_and_have_another_name():
    net = symbolic_trace(lambda x: x + 1)
    split = split_module(
        net, net, lambda _: 0, keep_original_input_name=False, partition_affix="p", tuple_return=True
    )
    assert [node.name for node in split.submod_p_0.graph.nodes] == ["arg_0", "add", "output"]
    assert split(torch.tensor(1)) == 2


@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")
def test_what_is_constant_is_computed_once():
    class Folding(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = (nn.Parameter(torch.tensor([value])) for value in (1.0, 2.0))

        def forward(self, x):
            return x * (self.one + self.two) + self.two.exp()

    module = Folding()
    folded = split_const_subgraphs(module)
    assert not folded.has_folding_been_run
    assert torch.allclose(folded(torch.ones(1)), module(torch.ones(1)))
    assert folded.has_folding_been_run and len(folded._FX_CONST_FOLDED_ATTRS) == 2
    with pytest.raises(AssertionError, match="Folding has already been run"):
        folded.run_folding()
    assert split_const_subgraphs(nn.ReLU()).const_subgraph_module is None
    assert get_unique_attr_name_in_module(module, "one") == "one_1"
    assert get_unique_attr_name_in_module(folded, "1+2") == "_1_2"


def test_what_is_computed_twice():
    traced = symbolic_trace(lambda x: (x + 1).sum((0,)) * (x + 1).sum((0,)) + (x + 1.0).sum([0]))
    found = CSEPass()(traced)
    assert found.modified and len(found.graph_module.graph.nodes) == 7
    assert not CSEPass()(found.graph_module).modified
    assert torch.ops.aten.randn in get_CSE_banned_ops()


def test_passes_in_an_order():
    def one(gm):
        return PassResult(gm, False)

    def two(gm):
        gm.graph.find_nodes(op="call_function", target=torch.add)[0].target = torch.sub

    manager = PassManager([pass_result_wrapper(two), one], steps=2)
    manager.add_constraint(this_before_that_pass_constraint(one, manager.passes[0]))
    with pytest.raises(RuntimeError, match="pass schedule constraint violated"):
        manager.validate_constraints()
    manager.solve_constraints()
    assert manager.passes[0] is one
    with pytest.raises(Exception, match=r"when running the 'two' pass after the following passes: \['one'\]"):
        manager(symbolic_trace(lambda x: torch.add(x, 1)))
    manager.steps = 1
    traced = symbolic_trace(lambda x: torch.add(x, 1))
    assert manager(traced).modified and traced(torch.tensor(1)) == 0
    manager.add_constraint(this_before_that_pass_constraint(manager.passes[1], one))
    with pytest.raises(RuntimeError, match="Circular dependency detected within the following passes"):
        manager.solve_constraints()
    with pytest.raises(TypeError, match="should only take in one variable, a module"):
        manager.add_checks(lambda a, b: None)


def test_a_pattern_in_a_graph():
    graph = symbolic_trace(lambda x, y: torch.relu(x * y + 1) + torch.relu(x + 2)).graph
    pattern = symbolic_trace(lambda a: torch.relu(a + 1)).graph
    assert [str(match.returning_nodes) for match in SubgraphMatcher(pattern).match(graph)] == ["[relu]"]
    found = SubgraphMatcher(pattern, ignore_literals=True).match(graph)
    assert [str(match.placeholder_nodes) for match in found] == ["[mul]", "[x]"]
    used = symbolic_trace(lambda x: (x + 1, torch.relu(x + 1))).graph
    assert len(SubgraphMatcher(pattern).match(used)) == 1
    leaking = symbolic_trace(lambda x: (lambda y: (y, torch.relu(y)))(x + 1)).graph
    assert SubgraphMatcher(pattern).match(leaking) == []
    with pytest.raises(AssertionError, match="pattern with dead code"):
        SubgraphMatcher(symbolic_trace(lambda x: (x + 1, x)[1]).graph)


def test_nodes_by_what_they_come_from():
    traced = symbolic_trace(lambda x: (x + 1).relu())
    for node in traced.graph.nodes:
        if node.name in ("add", "relu"):
            node.meta["source_fn_stack"] = [(node.name, {"add": nn.Linear, "relu": nn.ReLU}[node.name])]
    found = get_source_partitions(traced.graph, [nn.Linear, nn.ReLU])
    (linear,), (relu,) = found[nn.Linear], found[nn.ReLU]
    assert str((linear.input_nodes, linear.output_nodes, relu.input_nodes)) == "([x], [add], [add])"
    assert check_subgraphs_connected(linear, relu) and not check_subgraphs_connected(relu, linear)
    assert get_source_partitions(traced.graph, [nn.ReLU], lambda node: False) == {nn.ReLU: []}
