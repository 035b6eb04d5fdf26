"""Optimisers beside SGD and Adam: they find a minimum, and refuse what makes no sense."""

import copy

import pytest
import rushlight as torch
from support import raises

O = torch.optim


def run(make, steps=400):
    x = torch.tensor([3.0, -2.0], requires_grad=True)
    optimizer = make([x])

    def closure():
        optimizer.zero_grad()
        loss = ((x - torch.tensor([1.0, 0.5])) ** 2 * torch.tensor([1.0, 4.0])).sum()
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    return x


@pytest.mark.parametrize(
    "make, steps",
    [
        (lambda p: O.Adadelta(p, lr=20.0), 400),
        (lambda p: O.Adamax(p, lr=0.1), 400),
        (lambda p: O.NAdam(p, lr=0.1), 400),
        (lambda p: O.RAdam(p, lr=0.1), 400),
        (lambda p: O.ASGD(p, lr=0.1), 400),
        (lambda p: O.Rprop(p, lr=0.1), 400),
        (lambda p: O.LBFGS(p), 5),
        (lambda p: O.LBFGS(p, line_search_fn="strong_wolfe"), 5),
    ],
)
def test_a_minimum_is_found(make, steps):
    assert torch.allclose(run(make, steps), torch.tensor([1.0, 0.5]), atol=2e-2)


@pytest.mark.parametrize("kind", [O.Adadelta, O.Adamax, O.NAdam, O.RAdam, O.ASGD, O.Rprop])
def test_state_can_be_saved_and_loaded(kind):
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    first, second = kind([x]), kind([y])
    x.grad = torch.ones(2)
    first.step()
    with torch.no_grad():
        y.copy_(x)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    y.grad = torch.ones(2)
    first.step()
    second.step()
    assert torch.equal(x, y)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda p: O.Adadelta(p, rho=2), "Invalid rho value: 2"),
        (lambda p: O.Rprop(p, etas=(2, 3)), "Invalid eta values: 2, 3"),
        (lambda p: O.NAdam(p, momentum_decay=-1), "Invalid momentum_decay value: -1"),
        (lambda p: O.LBFGS(p, lr=-1), "Invalid learning rate: -1"),
        (
            lambda p: O.LBFGS([{"params": p}, {"params": [torch.zeros(1)]}]),
            "LBFGS doesn't support per-parameter options (parameter groups)",
        ),
    ],
)
def test_misuse_is_refused_in_words(make, text):
    with raises(ValueError, text):
        make([torch.zeros(2, requires_grad=True)])


def rates(make, epochs):
    optimizer = O.SGD([torch.zeros(1, requires_grad=True)], lr=0.1, momentum=0.9)
    scheduler, found = make(optimizer), []
    for _ in range(epochs):
        optimizer.step()
        scheduler.step()
        found.append(optimizer.param_groups[0]["lr"])
    return found


S = O.lr_scheduler


@pytest.mark.parametrize(
    "make, expected",
    [
        (
            lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.5)], [3]),
            [0.01, 0.01, 0.1, 0.05, 0.025],
        ),
        (
            lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.5, 2), S.ExponentialLR(o, 0.5)]),
            [0.025, 0.025, 0.0125],
        ),
        (lambda o: S.CyclicLR(o, 0.0, 1.0, 2), [0.5, 1.0, 0.5, 0.0, 0.5]),
        (lambda o: S.CosineAnnealingWarmRestarts(o, 2), [0.05, 0.1, 0.05, 0.1]),
        (
            lambda o: S.OneCycleLR(o, 1.0, total_steps=5, pct_start=0.4, anneal_strategy="linear"),
            [1.0, 2 / 3, 1 / 3, 0.0],
        ),
    ],
)
def test_rates_rise_and_fall(make, expected):
    assert rates(make, len(expected)) == pytest.approx(expected, abs=1e-5)
