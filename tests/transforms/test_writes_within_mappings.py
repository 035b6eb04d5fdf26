"""Derivatives of derivatives of functions that fill tensors of their own in place."""

import pytest
import rushlight as torch
from rushlight.func import grad, hessian, jacfwd, jacrev, jvp

X = torch.tensor([0.3, 0.5], dtype=torch.float64)


def filled(make):
    def function(x):
        result = make(x)
        result.copy_(x * x)
        return result * x

    return function


MADE = {
    "ones": lambda x: torch.ones(2, dtype=x.dtype),
    "a copy of a constant": lambda x: torch.ones(2, dtype=x.dtype).expand(2).clone(),
    "like the argument": torch.zeros_like,
    "new": lambda x: x.new_empty(2),
    "of the argument": lambda x: x.clone(),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize(
    "second",
    [
        lambda f: hessian(f),
        lambda f: jacfwd(grad(f)),
        lambda f: jacrev(grad(f)),
        lambda f: jacfwd(jacfwd(f)),
        lambda f: jacrev(jacrev(f)),
    ],
)
def test_what_is_written_to_a_new_tensor_is_differentiated_twice(name, second):
    function = filled(MADE[name])
    found = second(lambda x: function(x).sum())(X)
    torch.testing.assert_close(found, torch.diag(6 * X))


def test_elements_that_are_set_one_by_one_are():
    def function(x):
        result = torch.zeros(2, dtype=x.dtype)
        result[0] = x[0] ** 3
        result[1] = x[0] * x[1]
        return result.sum()

    expected = torch.tensor([[6 * 0.3, 1.0], [1.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(hessian(function)(X), expected)


def test_a_tangent_that_is_written_to_is_differentiated():
    def pushed(x):
        return jvp(lambda x: x.clone().mul_(x) * x, (x,), (torch.ones_like(x),))[1]

    third = jacfwd(grad(lambda x: pushed(x).sum()))(X)
    torch.testing.assert_close(third, 6 * torch.eye(2, dtype=torch.float64))


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.new_zeros(3, 2),
        lambda x: x.new_zeros(2, 3).t(),
        lambda x: x.new_zeros(4, 2)[1:],
        lambda x: x.new_zeros(3, 4)[:, ::2],
        lambda x: torch.stack([x * 0, x * 0, x * 0], 1).t(),
    ],
)
@pytest.mark.parametrize("window", [lambda y: y[1], lambda y: y[1:, 0], lambda y: y.t()[1, :2]])
def test_windows_of_whatever_lies_in_memory_are(make, window):
    def function(x):
        result = make(x)
        window(result).copy_(x * x)
        return (result * torch.arange(6.0, dtype=x.dtype).view(3, 2)).sum() * x.sum()

    expected = jacrev(jacrev(function))(X)
    for second in (jacfwd(jacfwd(function)), jacrev(jacfwd(function)), jacfwd(jacrev(function))):
        torch.testing.assert_close(second(X), expected)
    step = 1e-6 * torch.eye(2, dtype=X.dtype)
    slopes = [(grad(function)(X + one) - grad(function)(X - one)) / 2e-6 for one in step]
    torch.testing.assert_close(torch.stack(slopes), expected, rtol=1e-5, atol=1e-5)
