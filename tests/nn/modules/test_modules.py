"""Module: registration, traversal, modes, hooks on nothing; state; the layers of the first day."""

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, raises, sample

nn = torch.nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.act = nn.Tanh()
        self.second = nn.Linear(4, 2, bias=False)
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)

    def forward(self, x):
        return self.second(self.act(self.first(x))) * self.scale


def test_parameters_come_in_the_order_of_assignment_own_ones_first():
    names = [name for name, _ in Net().named_parameters()]
    assert names == ["scale", "first.weight", "first.bias", "second.weight"]
    assert [tuple(p.shape) for p in Net().parameters()] == [(2,), (4, 3), (4,), (2, 4)]
    assert [name for name, _ in Net().named_parameters(recurse=False)] == ["scale"]
    assert next(Net().named_parameters(prefix="net"))[0] == "net.scale"


def test_a_module_lists_buffers_children_and_modules():
    net = Net()
    assert [name for name, _ in net.named_buffers()] == ["count", "scratch"]
    assert [name for name, _ in net.named_children()] == ["first", "act", "second"]
    assert [name for name, _ in net.named_modules()] == ["", "first", "act", "second"]
    assert list(net.children())[1] is net.act and next(net.modules()) is net
    assert net.get_submodule("first") is net.first and net.get_parameter("first.weight") is net.first.weight


def test_a_shared_parameter_counts_once():
    net = Net()
    net.third = nn.Linear(4, 2, bias=False)
    net.third.weight = net.second.weight
    assert len(list(net.parameters())) == 4


def test_calling_runs_forward_and_backward_reaches_every_parameter():
    net = Net()
    net(torch.ones(5, 3)).sum().backward()
    assert all(p.grad is not None and p.grad.shape == p.shape for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net(torch.ones(5, 3)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert all(p.grad.abs().sum().item() == 0 for p in net.parameters())


def test_train_and_eval_reach_every_module():
    net = Net()
    assert net.training and net.eval() is net and not net.first.training
    assert net.train() is net and net.act.training
    assert not net.train(False).training


def test_requires_grad_reaches_every_parameter():
    net = Net().requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())


def test_parameters_are_removed_by_none_and_children_by_del():
    net = Net()
    net.scale = None
    assert (
        net.scale is None and "scale" not in dict(net.named_parameters()) and "scale" not in net.state_dict()
    )
    del net.act
    assert not hasattr(net, "act")
    net.extra = 5
    assert net.extra == 5


def test_a_plain_attribute_becomes_a_module_or_parameter_on_reassignment():
    net = Net()
    net.act = nn.ReLU()
    assert type(dict(net.named_children())["act"]) is nn.ReLU
    net.act = None
    assert dict(net._modules)["act"] is None


def test_apply_visits_children_before_parents():
    seen = []
    net = Net()
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    assert seen == ["Linear", "Tanh", "Linear", "Net"]


def test_conversion_changes_parameters_in_place():
    net = Net()
    weight = net.first.weight
    assert net.double() is net and net.first.weight is weight and weight.dtype is torch.float64
    assert net.count.dtype is torch.float64
    assert net.to(torch.float32).first.weight.dtype is torch.float32
    assert net.float().scale.dtype is torch.float32


def test_the_state_is_an_ordered_dict_of_detached_tensors():
    net = Net()
    state = net.state_dict()
    assert isinstance(state, OrderedDict)
    assert list(state) == ["scale", "count", "first.weight", "first.bias", "second.weight"]
    assert not state["scale"].requires_grad and state["scale"].data_ptr() == net.scale.data_ptr()
    assert next(iter(net.state_dict(prefix="m."))) == "m.scale"


def test_a_state_can_be_loaded():
    a, b = Net(), Net()
    weight = b.first.weight
    result = b.load_state_dict(a.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    assert b.first.weight is weight and torch.equal(a.first.weight, b.first.weight)
    assert torch.equal(a(torch.ones(3)), b(torch.ones(3)))


def test_loading_loosely_reports_what_did_not_match():
    net = Net()
    state = net.state_dict()
    del state["scale"]
    state["more"] = torch.ones(1)
    result = net.load_state_dict(state, strict=False)
    assert result.missing_keys == ["scale"] and result.unexpected_keys == ["more"]
    with raises(
        RuntimeError, 'Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "scale". '
    ):
        net.load_state_dict(state)


@pytest.mark.parametrize(
    "through", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"]
)
def test_modules_can_be_copied(through):
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    twin = through(net)
    assert torch.equal(net(torch.ones(2)), twin(torch.ones(2)))
    twin[0].weight.data.fill_(0)
    assert net[0].weight.abs().sum().item() > 0


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 5, 3)], ids=str)
def test_linear_is_its_formula(shape, bias):
    layer = nn.Linear(3, 4, bias=bias, dtype=torch.float64)
    x = sample(*shape)
    w = layer.weight.detach().numpy()
    expected = x @ w.T + (layer.bias.detach().numpy() if bias else 0)
    assert_tensor(layer(torch.tensor(x)), expected)
    assert (layer.bias is None) is (not bias)
    assert (layer.in_features, layer.out_features) == (3, 4)


def test_linear_starts_uniform_within_one_over_the_root_of_its_inputs():
    layer = nn.Linear(100, 400)
    for p in layer.parameters():
        assert p.abs().max().item() <= 0.1 and p.abs().max().item() > 0.095
        assert abs(p.mean().item()) < 0.01


def test_sequential_is_a_list_of_modules():
    a, b, c = nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)
    net = nn.Sequential(a, b, c)
    assert len(net) == 3 and net[0] is a and net[-1] is c and list(net) == [a, b, c]
    assert type(net[:2]) is nn.Sequential and list(net[:2]) == [a, b]
    x = torch.ones(2)
    assert torch.equal(net(x), c(b(a(x))))
    net.append(nn.Tanh())
    assert len(net) == 4
    net[1] = nn.Sigmoid()
    assert type(net[1]) is nn.Sigmoid
    del net[3]
    assert len(net) == 3


def test_sequential_takes_names():
    net = nn.Sequential(OrderedDict(fc=nn.Linear(2, 3), act=nn.ReLU()))
    assert [name for name, _ in net.named_children()] == ["fc", "act"] and net.fc is net[0]


@pytest.mark.parametrize(
    ("layer", "formula"),
    [
        (nn.ReLU(), lambda v: np.maximum(v, 0)),
        (nn.Tanh(), np.tanh),
        (nn.Sigmoid(), lambda v: 1 / (1 + np.exp(-v))),
        (nn.Identity(), lambda v: v),
        (nn.Softmax(dim=1), lambda v: np.exp(v) / np.exp(v).sum(1, keepdims=True)),
        (nn.LogSoftmax(dim=0), lambda v: v - np.log(np.exp(v).sum(0, keepdims=True))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_activations_are_their_formulas(layer, formula):
    assert_tensor(layer(torch.tensor(sample(3, 4))), formula(sample(3, 4)), tolerance=1e-11)


def test_relu_in_place_changes_its_input():
    x = torch.tensor([-1.0, 1.0])
    assert nn.ReLU(inplace=True)(x) is x and x.tolist() == [0.0, 1.0]


def test_the_representation_of_a_net_indents_its_children():
    assert repr(Net()) == (
        "Net(\n  (first): Linear(in_features=3, out_features=4, bias=True)\n  (act): Tanh()\n"
        "  (second): Linear(in_features=4, out_features=2, bias=False)\n)"
    )


def test_forward_hooks_see_and_replace():
    seen = []
    layer = nn.Identity()
    first = layer.register_forward_pre_hook(lambda module, arguments: (arguments[0] + 1,))
    second = layer.register_forward_hook(lambda module, arguments, output: seen.append(output.item()))
    third = layer.register_forward_hook(lambda module, arguments, output: output * 10)
    assert layer(torch.tensor(1.0)).item() == 20.0 and seen == [2.0]
    for handle in (first, second, third):
        handle.remove()
    assert layer(torch.tensor(1.0)).item() == 1.0


def test_modules_are_given_once_or_as_often_as_they_are_there():
    shared = nn.Linear(1, 1)
    net = nn.Sequential(shared, nn.Sequential(shared))
    assert len(list(net.modules())) == 3
    assert [type(part) for part in net.modules(remove_duplicate=False)] == [
        nn.Sequential,
        nn.Linear,
        nn.Sequential,
        nn.Linear,
    ]


@pytest.mark.parametrize(
    ("kind", "usual"),
    [("HingeEmbeddingLoss", 1.0), ("MarginRankingLoss", 0.0), ("CosineEmbeddingLoss", 0.0)],
)
def test_margins_are_what_they_are_given(kind, usual):
    made = getattr(nn, kind)
    assert made().margin == usual
    assert made(0.25).margin == 0.25
    assert made(None).margin is None


def test_all_modules_are_listed_where_they_live():
    assert {"Linear", "LazyConv2d", "Transformer"} <= set(nn.modules.__all__) & set(dir(nn.modules))
    found = {}
    exec("from rushlight.nn.modules import *", found)
    assert found["Linear"] is nn.Linear
    assert not {"Parameter", "DataParallel", "UninitializedBuffer"} & set(nn.modules.__all__)
