"""Values and derivatives where numbers end: single elements, zeros, the greatest numbers, nothing at all."""

import pytest
import rushlight as torch

GREATEST = torch.finfo(torch.float64).max


def number(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def twice(function, x):
    """The gradient, and the gradient of its sum."""
    y = function(x)
    (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)
    return gradient.detach(), torch.autograd.grad(gradient.sum(), x)[0]


@pytest.mark.parametrize("order", [0.5, 2.0, 3.0])
def test_the_norm_of_a_single_element_is_its_magnitude(order):
    x = number(1e300, -1e300).reshape(2, 1)
    norms = torch.linalg.vector_norm(x, order, 1)
    assert norms.tolist() == [1e300, 1e300]
    if order == 2.0:
        (gradient,) = torch.autograd.grad(norms.sum(), x)
        assert gradient.tolist() == [[1.0], [-1.0]]


@pytest.mark.parametrize("name", ["elu", "celu", "selu"])
def test_exponential_units_are_flat_at_zero_in_the_second_derivative(name):
    _, second = twice(getattr(torch.nn.functional, name), number(0.0, 1.0))
    assert second.tolist() == [0.0, 0.0]


def test_bessel_functions_of_the_greatest_number_are_infinite():
    x = torch.tensor([GREATEST, -GREATEST], dtype=torch.float64)
    assert torch.i0(x).tolist() == [float("inf"), float("inf")]
    assert torch.special.i1(x).tolist() == [float("inf"), float("-inf")]


def test_running_logarithms_of_sums_have_second_derivatives():
    _, second = twice(lambda x: torch.logcumsumexp(x, 0), number(1.0, -1.0, 0.5))
    torch.testing.assert_close(second, torch.zeros(3, dtype=torch.float64))


def test_running_logarithms_of_a_single_number_pass_the_gradient_on():
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.logcumsumexp(x, 0)
    assert y.grad_fn.name() == "LogcumsumexpBackward0"
    assert torch.autograd.grad(y, x)[0].item() == 1


def test_determinants_of_nothing_have_gradients_of_no_elements():
    x = torch.zeros(2, 0, 0, requires_grad=True)
    y = torch.linalg.det(x)
    assert y.tolist() == [1.0, 1.0]
    assert torch.autograd.grad(y.sum(), x)[0].shape == (2, 0, 0)


@pytest.mark.parametrize("dims", [(), 0])
def test_rolls_of_nothing_are_recorded(dims):
    x = torch.zeros(0, 3, requires_grad=True)
    y = torch.roll(x, 1, dims)
    assert (y.shape, y.grad_fn.name()) == ((0, 3), "RollBackward0")


def test_put_takes_the_gradient_of_what_it_puts_and_leaves_none_where():
    x, source = number(1.0, 2.0, 3.0), number(4.0, 5.0)
    y = torch.put(x, torch.tensor([2, -3]), source)
    assert y.tolist() == [5.0, 2.0, 4.0]
    weights = torch.tensor([1.0, 10.0, 100.0], dtype=torch.float64)
    gradients = torch.autograd.grad(y, (x, source), weights)
    assert [gradient.tolist() for gradient in gradients] == [[0.0, 10.0, 0.0], [100.0, 1.0]]


def test_masks_that_broadcast_name_elements_whose_gradients_add_up():
    x = number(1.0, 2.0)
    mask = torch.tensor([[True, False], [True, True]])
    y = torch.masked_select(x, mask)
    assert y.tolist() == [1.0, 1.0, 2.0]
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [2.0, 1.0]


def test_quantiles_of_normal_numbers_turn_probabilities_back():
    x = number(-3.0, -0.5, 0.0, 2.0)
    probability = torch.special.log_ndtr(x).exp()
    torch.testing.assert_close(torch.special.ndtri(probability), x)
    assert torch.autograd.gradcheck(torch.special.log_ndtr, x)
    assert torch.autograd.gradcheck(torch.special.ndtri, number(0.1, 0.5, 0.9))


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_solutions_by_factors_are_differentiated_by_both(left, adjoint):
    A = torch.tensor([[4.0, 1.0], [2.0, 3.0]], dtype=torch.float64)
    factors, pivots = torch.linalg.lu_factor(A)

    def solve(factors, right):
        return torch.linalg.lu_solve(factors, pivots, right, left=left, adjoint=adjoint)

    inputs = (factors.clone().requires_grad_(), number(1.0, 2.0, 3.0, 5.0).detach().reshape(2, 2))
    assert torch.autograd.gradcheck(solve, (inputs[0], inputs[1].requires_grad_()), check_forward_ad=True)


def test_least_squares_are_differentiated_through_solution_and_residuals():
    A = torch.tensor([[4.0, 1.0], [2.0, 3.0], [1.0, 1.0]], dtype=torch.float64, requires_grad=True)
    right = torch.tensor([[1.0], [2.0], [5.0]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *inputs: torch.linalg.lstsq(*inputs)[:2], (A, right))
    assert torch.autograd.gradgradcheck(lambda *inputs: torch.linalg.lstsq(*inputs)[0], (A, right))
