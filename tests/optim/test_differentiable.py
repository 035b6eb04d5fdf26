"""`differentiable=True`: steps are recorded, and gradients go through them and through the state."""

import pytest
import rushlight as torch
from support import raises

O = torch.optim
START = [1.0, -2.0, 0.5]


def after_steps(make, start, gradient, *hyper, steps=3):
    """Return the parameter that `steps` steps of an optimiser leave, recorded from what they depend on."""
    parameter = start.clone()
    parameter.retain_grad()
    optimiser = make([parameter], *hyper)
    for step in range(steps):
        parameter.grad = gradient * (1 if step % 2 else -1) * (step + 1)
        optimiser.step()
    return parameter


def double(value):
    return torch.tensor(value, dtype=torch.double, requires_grad=True)


KINDS = {
    "SGD": lambda p: O.SGD(p, lr=0.1, weight_decay=0.1, differentiable=True),
    "Adam": lambda p: O.Adam(p, lr=0.1, weight_decay=0.1, differentiable=True),
    "AdamW": lambda p: O.AdamW(p, lr=0.1, differentiable=True),
    "RMSprop": lambda p: O.RMSprop(p, lr=0.1, momentum=0.9, differentiable=True),
    "Adagrad": lambda p: O.Adagrad(p, lr=0.1, lr_decay=0.1, differentiable=True),
    "Adadelta": lambda p: O.Adadelta(p, eps=1e-3, differentiable=True),
    "NAdam": lambda p: O.NAdam(p, lr=0.1, differentiable=True),
    "RAdam": lambda p: O.RAdam(p, lr=0.1, betas=(0.5, 0.6), differentiable=True),
    "ASGD": lambda p: O.ASGD(p, lr=0.1, t0=1.0, differentiable=True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_go_through_several_steps(kind):
    inputs = double(START), double([0.3, 0.8, -0.6])
    assert torch.autograd.gradcheck(lambda *given: after_steps(KINDS[kind], *given), inputs)


@pytest.mark.own
@pytest.mark.parametrize(
    "make, hyper",
    [
        (lambda p: O.RMSprop(p, lr=0.1, centered=True, differentiable=True), []),
        (lambda p: O.Adamax(p, lr=0.1, differentiable=True), []),
        (lambda p: O.Adam(p, lr=0.1, amsgrad=True, differentiable=True), []),
        (lambda p, rate: O.NAdam(p, lr=rate, differentiable=True), [0.1]),
    ],
)
def test_what_a_step_recorded_is_not_written_to_by_the_next_one(make, hyper):
    inputs = double(START), double([0.3, 0.8, -0.6]), *map(double, hyper)
    assert torch.autograd.gradcheck(lambda *given: after_steps(make, *given), inputs)


@pytest.mark.parametrize(
    "make, hyper",
    [
        (lambda p, rate: O.SGD(p, lr=rate, differentiable=True), [0.1]),
        (lambda p, decay: O.SGD(p, lr=0.1, weight_decay=decay, differentiable=True), [0.1]),
        (lambda p, rate: O.Adam(p, lr=rate, differentiable=True), [0.1]),
        (lambda p, decay: O.Adam(p, lr=0.1, weight_decay=decay, differentiable=True), [0.1]),
        (lambda p, *betas: O.Adam(p, lr=0.1, betas=betas, differentiable=True), [0.8, 0.9]),
        (lambda p, rate: O.AdamW(p, lr=rate, differentiable=True), [0.1]),
    ],
)
def test_options_that_are_tensors_have_gradients(make, hyper):
    inputs = double(START), double([0.3, 0.8, -0.6]), *map(double, hyper)
    assert torch.autograd.gradcheck(lambda *given: after_steps(make, *given), inputs)


def test_without_it_nothing_is_recorded():
    parameter = torch.ones(2, requires_grad=True)
    parameter.grad = (parameter * 2).sin()
    optimiser = O.Adam([parameter])
    optimiser.step()
    assert all(not value.requires_grad for value in optimiser.state[parameter].values())


@pytest.mark.parametrize(
    "betas, foreach, text",
    [
        ((0.9, torch.tensor(0.99)), None, "betas must be either both floats or both Tensors"),
        ((0, 0.99), None, "betas must be either both floats or both Tensors"),
        ((torch.tensor(0.9), torch.tensor(1.0)), None, "Invalid beta parameter at index 1: 1.0"),
        (
            (torch.tensor(0.9), torch.tensor(0.99)),
            True,
            "betas[0] as a Tensor is not supported for capturable=False and foreach=True",
        ),
    ],
)
def test_betas_are_numbers_or_tensors(betas, foreach, text):
    parameter = torch.ones(2, requires_grad=True)
    with raises(ValueError, text):
        O.Adam([parameter], betas=betas, foreach=foreach)
