"""Steps written by hand, which give parameters other memory, and what programs leave behind of a graph that is spent."""

import pytest
import rushlight as torch
from compiling import repeat_both, run_both
from custom_functions.square import Square
from rushlight.func import jacfwd, jacrev, vmap

pytestmark = pytest.mark.own


def through_the_same_memory(parameters):
    for parameter in parameters:
        parameter.data -= 0.1 * parameter.grad
        parameter.grad = None


def into_other_memory(parameters):
    for parameter in parameters:
        parameter.data = parameter.data - 0.1 * parameter.grad
        parameter.grad = None


def into_other_memory_keeping_gradients(parameters):
    for parameter in parameters:
        parameter.data = parameter - 0.1 * parameter.grad
        parameter.grad.zero_()


STEPS = [through_the_same_memory, into_other_memory, into_other_memory_keeping_gradients]


def trained(step, count=8):
    weight, bias = torch.randn(count, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
    x, y = torch.randn(16, count), torch.randn(16, 1)

    def function():
        loss = ((x @ weight + bias - y) ** 2).mean()
        loss.backward()
        step((weight, bias))
        return loss

    return function, (weight, bias)


@pytest.mark.parametrize("step", STEPS)
def test_steps_that_give_parameters_their_numbers_are_recorded(step):
    def make():
        function, parameters = trained(step)
        return function, lambda number: (), parameters

    compiled = run_both(make, 9)
    assert compiled.programs, compiled.reason


@pytest.mark.parametrize("step", STEPS)
def test_many_of_them_in_one_call_are_many_calls(step):
    def make():
        function, parameters = trained(step)
        return function, lambda number: (), parameters

    repeat_both(make, 30)


def test_who_has_the_old_memory_keeps_it():
    """A view that was made before a parameter was given other memory shows what was there."""

    def make():
        function, parameters = trained(into_other_memory)
        return function, lambda number: (), (*parameters, parameters[0].detach())

    compiled = run_both(make, 9)
    assert compiled.programs, compiled.reason


def test_memory_that_two_tensors_share_is_not_given_to_one():
    def make():
        weight = torch.randn(3)
        other = weight.view(3)

        def function():
            weight.data = weight * 0.5
            return other + 1.0, weight + 1.0

        return function, lambda number: (), (weight, other)

    run_both(make, 9)


def test_a_tensor_may_be_given_what_the_function_returns():
    def make():
        weight = torch.randn(3)

        def function():
            weight.data = weight * 0.5 + 1.0
            return weight.data

        return function, lambda number: (), (weight,)

    run_both(make, 9)


class Turned(torch.autograd.Function):
    """It keeps nothing, so that backward may go through it again."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return -gradient


def stepped(function):
    weight = torch.randn(10, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.01)

    def step():
        loss = function(weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step, weight


def test_a_loss_of_a_custom_function_that_backward_has_been_through_is_returned():
    def make():
        step, weight = stepped(lambda weight: Square.apply(weight).sum())
        return step, lambda number: (), (weight,)

    compiled = run_both(make, 9)
    assert compiled.programs, compiled.reason
    torch.manual_seed(0)
    step = torch.compile(stepped(lambda weight: Square.apply(weight).sum())[0])
    for _ in range(9):
        loss = step()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()


def test_a_loss_that_backward_may_go_through_again_leads_back():
    torch.manual_seed(0)
    inner, weight = stepped(lambda weight: Turned.apply(weight).sum())
    step = torch.compile(inner)
    for _ in range(9):
        loss = step()
    before = weight.grad.clone()
    loss.backward()
    assert torch.equal(weight.grad, 2 * before)


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobians_of_many_samples_are_recorded(jacobian):
    def make():
        net = torch.nn.Sequential(torch.nn.Linear(2, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
        return lambda x: vmap(jacobian(net))(x), lambda number: (torch.randn(4, 2),), ()

    compiled = run_both(make, 9)
    assert compiled.programs, compiled.reason


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.new_zeros(3).fill_(2.0) + x,
        lambda x: x.clone().zero_() - x,
        lambda x: torch.empty_like(x).copy_(x),
    ],
    ids=["fill_", "zero_", "copy_"],
)
def test_writes_to_many_samples_are_counted_once(write):
    def make():
        return lambda x: vmap(write)(x), lambda number: (torch.randn(4, 3),), ()

    compiled = run_both(make, 9)
    assert compiled.programs, compiled.reason
