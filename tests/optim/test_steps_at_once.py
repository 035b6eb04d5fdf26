"""Steps of many parameters at once: the same as one operation after another, to the last bit."""

import copy
import itertools

import pytest
import rushlight as torch

optim = torch.optim


SHAPES = [(16,), (3, 45), (), (0, 3), (70_000,), (33,)]


class Watching(torch.overrides.TorchFunctionMode):
    """Sees every operation, so that each is made by itself."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def stepped(make, dtype, watched=False, steps=4):
    """Parameters and states behind some steps; one parameter is without a gradient now and then."""
    torch.manual_seed(3)
    parameters = [torch.randn(shape, dtype=dtype).requires_grad_() for shape in SHAPES]
    optimiser = make(parameters)
    for step in range(steps):
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        if step == 1:
            parameters[-1].grad = None
        if watched:
            with Watching():
                optimiser.step()
        else:
            optimiser.step()
    states = [value for p in parameters for value in optimiser.state[p].values()]
    return [p.detach() for p in parameters] + [state for state in states if isinstance(state, torch.Tensor)]


def sgd():
    for momentum, dampening, nesterov in ((0, 0, False), (0.9, 0, False), (0.9, 0.3, False), (0.9, 0, True)):
        yield lambda p, m=momentum, d=dampening, n=nesterov, **other: optim.SGD(
            p, 0.1, momentum=m, dampening=d, nesterov=n, **other
        )


def adam():
    for kind, amsgrad, first in itertools.product((optim.Adam, optim.AdamW), (False, True), (0.9, 0.4)):
        yield lambda p, k=kind, a=amsgrad, b=first, **other: k(p, 0.01, betas=(b, 0.99), amsgrad=a, **other)


def rmsprop():
    for momentum, centered in itertools.product((0, 0.9), (False, True)):
        yield lambda p, m=momentum, c=centered, **other: optim.RMSprop(
            p, 0.01, momentum=m, centered=c, **other
        )


def adagrad():
    for decay, initial in itertools.product((0, 0.1), (0, 1.0)):
        yield lambda p, d=decay, i=initial, **other: optim.Adagrad(
            p, 0.01, lr_decay=d, initial_accumulator_value=i, **other
        )


@pytest.mark.parametrize("kind", [sgd, adam, rmsprop, adagrad])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_step_is_the_same_bits_whether_its_operations_are_seen_or_not(kind, dtype):
    for make in kind():
        for decay, maximize in ((0, False), (0.1, True)):

            def made(parameters, make=make, decay=decay, maximize=maximize):
                return make(parameters, weight_decay=decay, maximize=maximize, foreach=False)

            for x, y in zip(stepped(made, dtype), stepped(made, dtype, watched=True), strict=True):
                torch.testing.assert_close(x, y, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("lr", [torch.tensor(0.1), 0.1])
def test_numbers_and_tensors_of_numbers_are_the_same_rate(lr):
    found = stepped(lambda p: optim.SGD(p, lr, momentum=0.9, foreach=False), torch.float64)
    expected = stepped(lambda p: optim.SGD(p, float(lr), momentum=0.9, foreach=False), torch.float64)
    for x, y in zip(found, expected, strict=True):
        torch.testing.assert_close(x, y)


def test_parameters_that_share_memory_are_moved_one_after_the_other():
    base = torch.ones(4)
    x, y = base[:3].requires_grad_(), base[1:].requires_grad_()
    x.grad, y.grad = torch.ones(3), torch.full((3,), 2.0)
    optim.SGD([x, y], 0.5).step()
    assert base.tolist() == [0.5, -0.5, -0.5, 0.0]


def test_a_parameter_whose_gradient_is_its_memory_is_moved_by_what_it_was():
    x = torch.tensor([4.0, 8.0], requires_grad=True)
    x.grad = x.detach()
    optim.SGD([x], 0.25, momentum=0.5).step()
    assert x.tolist() == [3.0, 6.0]


def test_gradients_in_another_order_move_the_parameters_they_belong_to():
    x = torch.zeros(2, 3, requires_grad=True)
    x.grad = torch.arange(6.0).reshape(3, 2).t()
    optim.SGD([x], 1.0).step()
    assert x.tolist() == [[0.0, -2.0, -4.0], [-1.0, -3.0, -5.0]]


def test_a_step_counts_as_a_write():
    x = torch.ones(3, requires_grad=True)
    y = (x * x).sum()
    x.grad = torch.ones(3)
    optimiser = optim.Adam([x])
    optimiser.step()
    optimiser.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_state_that_is_loaded_goes_on_where_it_was():
    def steps(optimiser, x, count):
        for step in range(count):
            x.grad = torch.full((3,), 1.0 + step)
            optimiser.step()

    x = torch.ones(3, requires_grad=True)
    first = optim.AdamW([x], 0.1, amsgrad=True)
    steps(first, x, 3)
    y = x.detach().clone().requires_grad_()
    second = optim.AdamW([y], 0.1, amsgrad=True)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    steps(first, x, 3)
    steps(second, y, 3)
    assert x.tolist() == y.tolist()
    assert second.state[y]["step"].item() == 6


def test_half_and_complex_parameters_are_moved_as_ever():
    for dtype in (torch.float16, torch.bfloat16, torch.complex64):
        x = torch.ones(3, dtype=dtype, requires_grad=True)
        x.grad = torch.full((3,), 0.5, dtype=dtype)
        optim.SGD([x], 0.5).step()
        assert x.tolist() == [0.75] * 3


def test_gradients_are_forgotten_and_hold_on_where_others_have_them():
    x, y = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    x.grad = kept = torch.ones(2)
    optim.SGD([x, y], 0.1).zero_grad()
    assert x.grad is None
    assert y.grad is None
    assert kept.tolist() == [1.0, 1.0]
