"""Forward mode over reverse mode, and reverse over forward."""

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD

pytestmark = pytest.mark.usefixtures("dual_level")


def tangent(x):
    return fwAD.unpack_dual(x).tangent


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_gradient_of_a_dual_tensor_has_a_tangent(create_graph):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    made = fwAD.make_dual(x, torch.tensor([1.0, 10.0]))
    (gradient,) = torch.autograd.grad((made**3).sum(), made, create_graph=create_graph)
    assert gradient.tolist() == [3.0, 12.0]
    assert tangent(gradient).tolist() == [6.0, 120.0]


def test_the_gradient_of_a_leaf_behind_a_dual_tensor_has_a_tangent():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    made = fwAD.make_dual(x, torch.tensor([1.0, 10.0]))
    (gradient,) = torch.autograd.grad((made * made.exp()).sum(), x)
    expected = (x.detach() + 2) * x.detach().exp() * torch.tensor([1.0, 10.0])
    torch.testing.assert_close(tangent(gradient), expected)


def test_a_leaf_that_is_dual_accumulates_a_gradient_without_a_tangent():
    x = fwAD.make_dual(torch.ones(2), torch.ones(2)).requires_grad_()
    (x * x * x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and tangent(x.grad) is None


def test_a_tangent_can_be_differentiated_by_the_primal():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = fwAD.make_dual(x, torch.tensor([1.0, 10.0])) ** 3
    (gradient,) = torch.autograd.grad(tangent(y).sum(), x)
    assert gradient.tolist() == [6.0, 120.0]


def test_a_tangent_can_be_differentiated_by_the_tangent():
    x = torch.tensor([1.0, 2.0])
    t = torch.ones(2, requires_grad=True)
    y = fwAD.make_dual(x, t) ** 2
    (gradient,) = torch.autograd.grad(tangent(y).sum(), t)
    assert gradient.tolist() == [2.0, 4.0] and not fwAD.unpack_dual(y).primal.requires_grad


def test_a_graph_recorded_before_the_write_of_a_tangent_keeps_the_old_one():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = fwAD.make_dual(x, torch.ones(2)).clone()
    y.mul_(y.detach() + 1).sin_()
    (gradient,) = torch.autograd.grad(y.sum(), x)
    scale = x.detach() + 1
    torch.testing.assert_close(gradient, (x.detach() * scale).cos() * scale)
    torch.testing.assert_close(tangent(gradient), -(x.detach() * scale).sin() * scale * scale)


def test_a_write_through_a_view_passes_gradients_and_tangents():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    made = fwAD.make_dual(x, torch.ones(2))
    y = torch.zeros(2, 2)
    y[0] = made
    y[0].mul_(made)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert gradient.tolist() == [2.0, 4.0] and tangent(gradient).tolist() == [2.0, 2.0]


def test_a_hessian_times_a_vector_is_the_same_both_ways():
    matrix = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    x, v = torch.tensor([0.3, 0.7], requires_grad=True), torch.tensor([1.0, -2.0])

    def f(x):
        return torch.tanh(matrix @ x).mul(matrix[0]).sum()

    (forward_over_reverse,) = torch.autograd.grad(f(made := fwAD.make_dual(x, v)), made)
    (reverse_over_forward,) = torch.autograd.grad(tangent(f(fwAD.make_dual(x, v))), x)
    torch.testing.assert_close(tangent(forward_over_reverse), reverse_over_forward)
