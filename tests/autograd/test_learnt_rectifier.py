"""Derivatives of `prelu`: of the input and of the weight alone, of second order, and at zero."""

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD
from rushlight.nn import functional as F


@pytest.fixture
def x():
    return torch.tensor([1.0, -2.0, 3.0], requires_grad=True)


def test_the_gradient_of_the_input_alone_can_be_derived_again(x):
    (gradient,) = torch.autograd.grad(F.prelu(x, torch.tensor([0.2])).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), x)
    assert torch.equal(second, torch.zeros(3))


def test_each_gradient_leads_to_input_and_weight(x):
    weight = torch.tensor([0.2], requires_grad=True)
    of_input, of_weight = torch.autograd.grad(F.prelu(x, weight).sum(), (x, weight), create_graph=True)
    first = torch.autograd.grad(of_input.sum(), (x, weight), retain_graph=True)
    assert torch.equal(first[0], torch.zeros(3))
    assert torch.equal(first[1], torch.ones(1))
    second = torch.autograd.grad(of_weight.sum(), (x, weight))
    assert torch.equal(second[0], torch.tensor([0.0, 1.0, 0.0]))
    assert torch.equal(second[1], torch.zeros(1))


def test_both_orders_agree_with_differences():
    x = torch.tensor([[1.0, -2.0, 0.5], [-0.3, 0.7, -1.1]], dtype=torch.float64, requires_grad=True)
    weight = torch.tensor([0.2, -0.5, 1.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(F.prelu, (x, weight), check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(F.prelu, (x, weight), check_fwd_over_rev=True)


def test_forward_what_is_zero_counts_as_positive():
    zeros, weight = torch.zeros(2), torch.tensor(0.2)
    with fwAD.dual_level():
        tangent = fwAD.unpack_dual(F.prelu(fwAD.make_dual(zeros, torch.ones(2)), weight)).tangent
    assert torch.equal(tangent, torch.ones(2))
    assert torch.equal(torch.func.grad(lambda x: F.prelu(x, weight).sum())(zeros), torch.full((2,), 0.2))


def test_so_it_does_for_derivatives_of_gradients():
    x, weight = torch.tensor([0.0, -1.0], requires_grad=True), torch.tensor([0.5])
    (gradient,) = torch.autograd.grad(F.prelu(x, weight).pow(2).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), x)
    assert torch.equal(second, torch.tensor([1.0, 0.5]))
