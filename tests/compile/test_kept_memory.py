"""What a program keeps between runs is seen by nobody."""

import gc
import weakref

import pytest
import rushlight as torch
from compiling import run_both

pytestmark = pytest.mark.own


def recorded(function, *arguments):
    compiled = torch.compile(function)
    for _ in range(6):
        compiled(*arguments)
    assert compiled.programs, compiled.reason
    return compiled


def test_results_stay_what_they_are_when_the_program_runs_again():
    weight = torch.randn(3, 3)
    compiled = recorded(lambda x: (torch.tanh(x @ weight) * 2, (x + 1) * 3), torch.randn(2, 3))
    arguments = [torch.randn(2, 3) for _ in range(4)]
    kept = [compiled(argument) for argument in arguments]
    for argument, (first, second) in zip(arguments, kept, strict=True):
        assert torch.equal(first, torch.tanh(argument @ weight) * 2)
        assert torch.equal(second, (argument + 1) * 3)


def test_gradients_that_somebody_holds_stay_what_they_are():
    w = torch.randn(3, requires_grad=True)

    def step(x):
        w.grad = None
        (w * x).pow(2).sum().backward()

    compiled = recorded(step, torch.ones(3))
    compiled(torch.ones(3))
    held = w.grad
    before = held.clone()
    compiled(torch.full((3,), 5.0))
    assert torch.equal(held, before)
    assert not torch.equal(w.grad, before)


def test_arguments_are_not_kept():
    compiled = recorded(lambda x: torch.sin(x) + 1, torch.randn(5))
    x = torch.randn(5)
    compiled(x)
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


def test_arguments_that_are_written_to_elsewhere_are_read_where_they_lie():
    compiled = recorded(lambda x: x * 2 + 1, torch.randn(5))
    x = torch.zeros(5)
    x.data = torch.full((5,), 3.0)
    assert compiled(x).tolist() == [7.0] * 5


@pytest.mark.parametrize("shape", [(40_000,), (3, 40_000), (200, 200)])
def test_many_elements_are_computed_a_tile_at_a_time_with_the_same_bits(shape):
    def make():
        weight = torch.randn(shape, requires_grad=True)
        one, row = torch.randn(()), torch.randn(shape[-1])

        def step(x):
            weight.grad = None
            y = torch.tanh(weight * x) * one + 0.5
            z = (y - x) / (y.abs() + 1) + row
            loss = (z.exp() * y[(0,) * len(shape)] + z.flatten()[0] * x).sum()
            loss.backward()
            return z, loss

        return step, lambda number: (torch.full(shape, float(number)),), (weight,)

    assert run_both(make, 9).programs


def test_an_element_that_all_depend_on_is_there_before_them():
    def make():
        def function(x):
            y = x * 2
            y = torch.sin(y) + y[:1]
            z = y.double() * 3
            return (y[1:] + y[:-1]).exp(), z * z[-1:] + 1

        return function, lambda number: (torch.linspace(-1, number, 100_000),), ()

    assert run_both(make, 9).programs


def test_gradients_are_not_copied_to_where_they_stay():
    model, x = torch.nn.Linear(3, 2), torch.randn(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    compiled = recorded(step)
    assert "Clone" not in str(torch.compiler.explain(step)())
    compiled()
    held = [parameter.grad for parameter in model.parameters()]
    values = [gradient.clone() for gradient in held]
    compiled()
    for gradient, value, parameter in zip(held, values, model.parameters(), strict=True):
        assert torch.equal(gradient, value)
        assert gradient.untyped_storage().nbytes() == gradient.nbytes
        assert gradient.data_ptr() != parameter.grad.data_ptr()


def test_a_copy_is_one_of_its_own_where_the_original_stays_or_is_written_to():
    def both(x):
        made = x * 2
        return made, made.clone()

    def written(x):
        made = x * 2
        copy = made.clone()
        made.add_(1)
        return copy

    def part(x):
        return (x * 2)[:2].clone()

    x = torch.arange(4.0)
    first, second = recorded(both, x)(x)
    first.zero_()
    assert second.tolist() == [0, 2, 4, 6]
    assert recorded(written, x)(x).tolist() == [0, 2, 4, 6]
    assert recorded(part, x)(x).untyped_storage().nbytes() == 8
    assert recorded(lambda x: (x * 2).clone().add_(1), x)(x).tolist() == [1, 3, 5, 7]
