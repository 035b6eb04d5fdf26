"""Groups of nodes that somebody can compute, found and made modules of their own."""

import operator

import pytest
import rushlight as torch
from rushlight.fx import symbolic_trace
from rushlight.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from rushlight.fx.passes.operator_support import (
    OperatorSupport,
    OpSupports,
    any_chain,
    chain,
    create_op_support,
)
from rushlight.fx.passes.shape_prop import ShapeProp
from rushlight.fx.passes.utils.fuser_utils import fuse_by_partitions, validate_partition
from support import raises

KNOWN = (operator.add, operator.getitem, torch.ops.aten.permute)
ADDS = create_op_support(lambda _, node: node.op == "call_function" and node.target in KNOWN)


def names(partitions):
    return [sorted(node.name for node in one.nodes) for one in partitions]


def blocked(a, b, c):
    add = a + b
    add_1 = add + b
    relu = add_1.relu()
    add_2 = add_1 + relu
    return add_1 + add_2, add_1


def branches(a, b, c):
    add = a + 1
    add_1 = add.relu()
    add_2 = add + add_1
    return torch.stack([add_1, add_2, add.relu()])


def parts_of_a_tuple(a, b, c):
    one, two = a.split(2, 0)
    return (one + b[:2]) + (two + c[:2])


def parts_of_what_is_used(a, b, c):
    one, two = a.split(2, 0)
    return (one + b[:2]) + (two + b[2:]), b


def at_the_ends(a, b, c):
    x = torch.ops.aten.permute(a, [0])
    x = torch.ops.aten.permute(x + 1.0, [0]) + 1.0
    return torch.ops.aten.permute(x, [0])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (blocked, [["add_2", "add_3"], ["add", "add_1"]]),
        (branches, [["add_1"], ["add"]]),
        (parts_of_a_tuple, [["add", "add_1", "add_2"]]),
        (parts_of_what_is_used, [["add", "add_1", "add_2", "getitem_2", "getitem_3"]]),
        (at_the_ends, [["add", "add_1", "permute", "permute_1", "permute_2"]]),
    ],
)
def test_that_groups_are_as_large_as_they_can_be(function, expected):
    partitioner = CapabilityBasedPartitioner(
        symbolic_trace(function), ADDS, allows_single_node_partition=True
    )
    found = partitioner.propose_partitions()
    assert names(found) == expected
    given = [torch.rand(4) for _ in range(3)]
    assert str(partitioner.fuse_partitions(found)(*given)) == str(function(*given))


def test_what_computes_nothing_is_left_out_at_the_ends():
    partitioner = CapabilityBasedPartitioner(
        symbolic_trace(at_the_ends), ADDS, non_compute_ops=["torch.ops.aten.permute"]
    )
    found = partitioner.propose_partitions()
    partitioner.remove_bookend_non_compute_ops(found)
    assert names(found) == [["add", "add_1", "permute_1"]]


def test_single_nodes_are_worth_a_module_only_if_that_is_said():
    traced = symbolic_trace(lambda x: (x + 1).relu())
    assert CapabilityBasedPartitioner(traced, ADDS).propose_partitions() == []
    one = CapabilityBasedPartitioner(traced, ADDS, allowed_single_node_partition_ops=["_operator.add"])
    assert names(one.propose_partitions()) == [["add"]]


def test_groups_that_are_named():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)
            self.weight = torch.nn.Parameter(torch.ones(2))

        def forward(self, a, b):
            c = self.linear(a + b) + self.weight
            return c.relu(), c

    net = Net()
    traced = symbolic_trace(net)
    known = {node.name: node for node in traced.graph.nodes}
    assert not validate_partition([known["add"], known["add_1"]])
    fused = fuse_by_partitions(traced, [[known["weight"], known["linear"], known["add_1"]], [known["add"]]])
    assert [node.name for node in fused.graph.nodes] == ["a", "b", "fused_1", "fused_0", "relu", "output"]
    x, y = torch.ones(2), torch.zeros(2)
    assert str(fused(x, y)) == str(net(x, y))
    assert [name for name, _ in fused.fused_0.named_parameters()] == [
        "weight",
        "linear.weight",
        "linear.bias",
    ]


def test_groups_that_wait_for_each_other_are_refused():
    traced = symbolic_trace(blocked)
    known = {node.name: node for node in traced.graph.nodes}
    with raises(AssertionError, "Invalid partition, found dependency cycles"):
        fuse_by_partitions(traced, [[known["add_1"], known["add_2"]]])


def test_answers_by_tables_functions_and_names():
    traced = symbolic_trace(lambda x: (x + 1).relu() * 2)
    ShapeProp(traced).propagate(torch.ones(2))
    add, relu, mul = [node for node in traced.graph.nodes if node.op.startswith("call")]
    table = OperatorSupport({"_operator.add": None, "_operator.mul": ([[torch.float64]], {}), "relu": None})
    assert [table.is_node_supported({}, node) for node in (add, relu, mul)] == [True, True, False]
    no_relu = OpSupports.decline_if_node_in_names({"relu"})
    no_floats = OpSupports.decline_if_input_dtype(torch.float32)
    both, either = chain(table, no_relu), any_chain(no_floats, no_relu)
    assert [both.is_node_supported({}, node) for node in (add, relu, mul)] == [True, False, False]
    assert [either.is_node_supported({}, node) for node in (add, relu, mul)] == [True, False, True]
    assert not no_floats.is_node_supported({}, add)
