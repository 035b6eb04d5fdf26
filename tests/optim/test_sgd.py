"""SGD with all its options, over several steps, against its formula."""

import copy
import itertools

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, sample

SGD = torch.optim.SGD


def reference(values, gradients, lr, momentum=0, dampening=0, weight_decay=0, nesterov=False, maximize=False):
    """The update rule, step by step, in numpy."""
    values, buffer = values.copy(), None
    for gradient in gradients:
        step = -gradient if maximize else gradient
        step = step + weight_decay * values
        if momentum:
            buffer = step.copy() if buffer is None else momentum * buffer + (1 - dampening) * step
            step = step + momentum * buffer if nesterov else buffer
        values = values - lr * step
    return values


OPTIONS = [
    {"momentum": m, "dampening": d, "weight_decay": w, "nesterov": n, "maximize": x}
    for m, d, w, n, x in itertools.product((0, 0.9), (0, 0.3), (0, 0.1), (False, True), (False, True))
    if not (n and (m == 0 or d))
]


@pytest.mark.parametrize(
    "options", OPTIONS, ids=lambda o: ", ".join(f"{k}={v}" for k, v in o.items() if v) or "plain"
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_five_steps_follow_the_formula(options, dtype):
    kind = getattr(torch, dtype)
    starts = [sample(3, 2), sample(4, seed=1)]
    gradients = [
        [sample(*start.shape, seed=10 * i + step) for step in range(5)] for i, start in enumerate(starts)
    ]
    parameters = [torch.tensor(start, dtype=kind, requires_grad=True) for start in starts]
    optimizer = SGD(parameters, lr=0.1, **options)
    for step in range(5):
        for parameter, given in zip(parameters, gradients, strict=True):
            parameter.grad = torch.tensor(given[step], dtype=kind)
        assert optimizer.step() is None
    for parameter, start, given in zip(parameters, starts, gradients, strict=True):
        expected = reference(start, given, 0.1, **options)
        assert_tensor(parameter, expected, kind, tolerance=1e-5 if dtype == "float32" else 1e-12)


def quadratic():
    x = torch.tensor([3.0, -2.0], dtype=torch.float64, requires_grad=True)
    return x, lambda: (x * x).sum()


def test_training_reaches_the_minimum():
    x, loss = quadratic()
    optimizer = SGD([x], lr=0.1, momentum=0.5)
    for _ in range(200):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    assert x.abs().max().item() < 1e-8
    assert x.requires_grad and x.is_leaf


def test_the_default_learning_rate_is_a_thousandth():
    x, loss = quadratic()
    optimizer = SGD([x])
    loss().backward()
    optimizer.step()
    assert_tensor(x, np.array([3.0, -2.0]) * (1 - 0.002))


def test_parameters_without_gradient_are_left_alone():
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    x.grad = torch.ones(1)
    SGD([x, y], lr=0.5).step()
    assert (x.item(), y.item()) == (0.5, 1.0)


def test_zero_grad_clears_or_zeroes():
    x = torch.ones(1, requires_grad=True)
    optimizer = SGD([x], lr=0.1)
    x.grad = torch.ones(1)
    optimizer.zero_grad(set_to_none=False)
    assert x.grad.item() == 0.0
    optimizer.zero_grad()
    assert x.grad is None


def test_groups_have_options_of_their_own():
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    optimizer = SGD([{"params": [x]}, {"params": y, "lr": 1.0}], lr=0.1)
    for p in (x, y):
        p.grad = torch.ones(1)
    optimizer.step()
    assert x.item() == pytest.approx(0.9) and y.item() == 0.0
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 1.0]


def test_a_group_can_be_added_and_an_option_changed_later():
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    optimizer = SGD([x], lr=0.1)
    optimizer.add_param_group({"params": [y]})
    for group in optimizer.param_groups:
        group["lr"] = 0.5
    for p in (x, y):
        p.grad = torch.ones(1)
    optimizer.step()
    assert x.item() == y.item() == 0.5


def test_named_parameters_are_accepted():
    layer = torch.nn.Linear(2, 1)
    optimizer = SGD(layer.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]


def test_a_closure_is_evaluated_with_recording_and_its_loss_returned():
    x, loss = quadratic()
    optimizer = SGD([x], lr=0.1)

    def closure():
        assert torch.is_grad_enabled()
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    with torch.no_grad():
        assert optimizer.step(closure).item() == 13.0
    assert_tensor(x, np.array([3.0, -2.0]) * 0.8)


def test_the_state_holds_the_momentum_and_can_be_loaded():
    def run(optimizer, x, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            (x * x).sum().backward()
            optimizer.step()

    x, _ = quadratic()
    optimizer = SGD([x], lr=0.1, momentum=0.9)
    run(optimizer, x, 3)
    state = copy.deepcopy(optimizer.state_dict())
    assert list(state) == ["state", "param_groups"]
    assert list(state["state"][0]) == ["momentum_buffer"]
    assert state["param_groups"][0]["params"] == [0] and state["param_groups"][0]["momentum"] == 0.9
    y = x.detach().clone().requires_grad_()
    other = SGD([y], lr=5.0)
    other.load_state_dict(state)
    run(optimizer, x, 3)
    run(other, y, 3)
    assert torch.equal(x, y)


def test_a_step_counts_as_a_change_in_place():
    x, loss = quadratic()
    optimizer = SGD([x], lr=0.1)
    kept = loss()
    loss().backward()
    optimizer.step()
    assert x._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.backward()


def test_the_defaults_name_every_option():
    x, _ = quadratic()
    defaults = SGD([x], lr=0.1).defaults
    assert {
        name: defaults[name]
        for name in ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize")
    } == {
        "lr": 0.1,
        "momentum": 0,
        "dampening": 0,
        "weight_decay": 0,
        "nesterov": False,
        "maximize": False,
    }


def test_a_small_network_learns_exclusive_or():
    torch.manual_seed(0)
    nn = torch.nn
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = SGD(net.parameters(), lr=0.5, momentum=0.9)
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    t = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
    criterion = nn.BCEWithLogitsLoss()
    for _ in range(300):
        optimizer.zero_grad()
        loss = criterion(net(x), t)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05
    assert ((net(x) > 0) == (t > 0.5)).all().item()
