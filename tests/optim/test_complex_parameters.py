"""Complex parameters are optimised as twice as many real ones."""

import pytest
import rushlight as torch
from support import raises

O = torch.optim
KINDS = {
    "SGD": lambda p: O.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1),
    "Adam": lambda p: O.Adam(p, lr=0.1, weight_decay=0.1),
    "Adam, amsgrad": lambda p: O.Adam(p, lr=0.1, amsgrad=True),
    "AdamW": lambda p: O.AdamW(p, lr=0.1),
    "RMSprop": lambda p: O.RMSprop(p, lr=0.1, momentum=0.9, centered=True),
    "Adagrad": lambda p: O.Adagrad(p, lr=0.1, initial_accumulator_value=0.3),
    "Adadelta": lambda p: O.Adadelta(p, weight_decay=0.1),
    "Adamax": lambda p: O.Adamax(p, lr=0.1),
    "NAdam": lambda p: O.NAdam(p, lr=0.1, decoupled_weight_decay=True),
    "RAdam": lambda p: O.RAdam(p, lr=0.1, betas=(0.5, 0.6)),
    "ASGD": lambda p: O.ASGD(p, lr=0.1, t0=1.0),
    "Rprop": lambda p: O.Rprop(p, lr=0.1, step_sizes=(0.08, 0.11)),
}


def losses(parameter, optimiser, steps=8):
    """Yield the loss of each step towards a point; both kinds of parameters have the same losses."""
    target = torch.tensor([[1.0, -1.0], [0.5, 2.0], [-0.3, 0.0]], dtype=torch.double)
    for _ in range(steps):
        optimiser.zero_grad()
        parts = torch.view_as_real(parameter) if parameter.is_complex() else parameter
        loss = ((parts - target) ** 2).sum()
        loss.backward()
        optimiser.step()
        yield loss.item()


@pytest.mark.parametrize("kind", KINDS)
def test_each_part_of_a_number_has_a_step_of_its_own(kind):
    pairs = torch.tensor([[3.0, -2.0], [0.1, 4.0], [1.0, -0.2]], dtype=torch.double, requires_grad=True)
    numbers = torch.view_as_complex(pairs.detach().clone()).requires_grad_()
    by_pairs, by_numbers = KINDS[kind]([pairs]), KINDS[kind]([numbers])
    assert list(losses(numbers, by_numbers)) == pytest.approx(list(losses(pairs, by_pairs)), rel=1e-12)
    assert torch.allclose(torch.view_as_real(numbers), pairs)
    for name, state in by_numbers.state[numbers].items():
        expected = by_pairs.state[pairs][name]
        if state.is_complex():
            assert torch.allclose(torch.view_as_real(state), expected), name
        else:
            assert torch.equal(state, expected), name


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_search_along_lines_goes_through_both_parts(search):
    numbers = torch.tensor([3.0 - 2.0j, 0.1 + 4.0j], requires_grad=True)
    real = torch.tensor([5.0], requires_grad=True)
    unused = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    optimiser = O.LBFGS([numbers, unused, real], line_search_fn=search)

    def closure():
        optimiser.zero_grad()
        loss = ((numbers - (1 + 2j)).abs() ** 2).sum() + (real - 3) ** 2
        loss.backward()
        return loss

    optimiser.step(closure)
    assert torch.allclose(numbers, torch.full((2,), 1 + 2j), atol=1e-5)
    assert torch.allclose(real, torch.tensor([3.0]), atol=1e-5)
    assert torch.equal(unused, torch.ones(2, dtype=torch.complex64))


@pytest.mark.parametrize("kind", [O.Adafactor, O.Muon])
def test_those_that_know_no_complex_numbers_say_so(kind):
    parameter = torch.ones(2, 2, dtype=torch.complex64, requires_grad=True)
    parameter.grad = torch.ones(2, 2, dtype=torch.complex64)
    with raises(RuntimeError, f"{kind.__name__} does not support complex parameters"):
        kind([parameter]).step()
    assert torch.equal(parameter, torch.ones(2, 2, dtype=torch.complex64))
