"""`utils.checkpoint` within itself, and backward within a part."""

import pytest
import rushlight as torch
from checkpoint.parts import leaf
from rushlight.utils.checkpoint import checkpoint


def test_a_part_within_a_part_is_calculated_again_by_both():
    calls = []

    def inner(x):
        calls.append("inner")
        return x.sin().exp()

    def outer(x):
        calls.append("outer")
        return checkpoint(inner, x.cos(), use_reentrant=False).sin()

    x = leaf()
    checkpoint(outer, x, use_reentrant=False).sum().backward()
    got = x.grad.clone()
    x.grad = None
    x.cos().sin().exp().sin().sum().backward()
    assert torch.allclose(got, x.grad)
    assert calls[:2] == ["outer", "inner"] and calls.count("outer") == 2 and calls.count("inner") == 3


@pytest.mark.filterwarnings("ignore:None of the inputs")
@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_parts_of_either_kind_stand_within_each_other(first, second):
    x = leaf()
    y = checkpoint(
        lambda x: checkpoint(lambda x: x.sin().exp(), x.cos(), use_reentrant=second).sin(),
        x,
        use_reentrant=first,
    )
    y.sum().backward()
    got = x.grad.clone()
    x.grad = None
    x.cos().sin().exp().sin().sum().backward()
    assert torch.allclose(got, x.grad)


def test_ten_parts_stand_within_each_other():
    def deeper(x, depth):
        x = x.sin()
        return checkpoint(deeper, x, depth - 1, use_reentrant=False) if depth else x

    x, y = leaf(), leaf()
    deeper(x, 10).sum().backward()
    z = y
    for _ in range(11):
        z = z.sin()
    z.sum().backward()
    assert torch.allclose(x.grad, y.grad)


def test_backward_runs_inside_of_a_part():
    def function(x):
        y = x.sin()
        (g,) = torch.autograd.grad(y.cos().sum(), x, create_graph=True)
        return y * g

    x, z = leaf(), leaf()
    checkpoint(function, x, use_reentrant=False).sum().backward()
    function(z).sum().backward()
    assert torch.allclose(x.grad, z.grad)


@pytest.mark.parametrize("early_stop", [True, False])
def test_backward_inside_of_a_part_that_frees_its_graph(early_stop):
    def function(x):
        z = x.sin().cos()
        (g,) = torch.autograd.grad(z.sum(), x)
        return x.cos() * g

    x, y = leaf(), leaf()
    checkpoint(function, x, use_reentrant=False, early_stop=early_stop).sum().backward()
    function(y).sum().backward()
    assert torch.allclose(x.grad, y.grad)
