"""Backward of dual tensors: which gradients keep their tangents."""

import pytest
import rushlight as torch
from rushlight.autograd import forward_ad


@pytest.fixture
def dual():
    with forward_ad.dual_level():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        yield x, forward_ad.make_dual(x, torch.tensor([1.0, 10.0]))


def tangent(x):
    found = forward_ad.unpack_dual(x).tangent
    return None if found is None else found.tolist()


def test_a_gradient_that_is_taken_over_loses_its_tangent(dual):
    x, d = dual
    (d**3).sum().backward()
    assert x.grad.tolist() == [3, 12]
    assert tangent(x.grad) is None


def test_a_gradient_that_is_added_brings_its_own(dual):
    x, d = dual
    (d**3).sum().backward()
    (d**2).sum().backward()
    assert x.grad.tolist() == [5, 16]
    assert tangent(x.grad) == [2, 20]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_gradient_that_is_copied_keeps_its_tangent(dual):
    x, d = dual
    (d**3).sum().backward(create_graph=True)
    assert tangent(x.grad) == [6, 120]
    y = torch.ones(2, 3, requires_grad=True)
    y.t().backward(forward_ad.make_dual(torch.ones(3, 2), torch.full((3, 2), 2.0)))
    assert tangent(y.grad) == [[2] * 3] * 2


def test_a_gradient_that_is_asked_for_keeps_its_tangent(dual):
    x, d = dual
    (gradient,) = torch.autograd.grad((d**3).sum(), x)
    assert tangent(gradient) == [6, 120]


def test_a_transform_of_a_dual_tensor_gives_gradients_with_tangents():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.tensor([1.0, 2.0]), torch.ones(2))
        gradient = torch.func.grad(lambda x: (x**3).sum())(x)
        assert tangent(gradient) == [6, 12]
        assert repr(gradient) == "tensor([ 3., 12.], tangent=tensor([ 6., 12.]))"
