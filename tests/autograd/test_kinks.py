"""Gradients where a function has a kink, and of what is not a number."""

import pytest
import rushlight as torch
from rushlight.nn import functional as F
from support import raises, single_leaf


@pytest.mark.parametrize(
    "unit",
    [F.elu, F.celu, F.selu, lambda x: F.elu_(x * 1), lambda x: F.celu_(x * 1), lambda x: F.selu_(x * 1)],
)
def test_an_exponential_unit_has_no_second_derivative_at_zero(unit):
    x = single_leaf(0.0, -0.0, 1.0, -1.0)
    (slope,) = torch.autograd.grad(unit(x).sum(), x, create_graph=True)
    (curvature,) = torch.autograd.grad(slope.sum(), x)
    assert curvature[:3].tolist() == [0.0, 0.0, 0.0]
    assert curvature[3] == slope[3]


@pytest.mark.parametrize("power", [1, 2])
def test_a_margin_that_is_just_met_has_no_gradient(power):
    x = torch.tensor([[4.0, 5.0, 6.0]], requires_grad=True)
    F.multi_margin_loss(x, torch.tensor([1]), p=power).backward()
    assert x.grad[0, 0] == 0.0
    assert x.grad[0, 2] == -x.grad[0, 1] > 0.0


def test_margins_of_several_labels_that_are_just_met_have_none_either():
    x = torch.tensor([[4.0, 5.0]], requires_grad=True)
    F.multilabel_margin_loss(x, torch.tensor([[1, -1]])).backward()
    assert x.grad.tolist() == [[0.0, 0.0]]


def test_what_is_not_a_number_violates_no_margin():
    x = torch.tensor([[float("nan"), 1.0, 2.0]], requires_grad=True)
    loss = F.multi_margin_loss(x, torch.tensor([0]))
    loss.backward()
    assert (loss.item(), x.grad.tolist()) == (0.0, [[0.0, 0.0, 0.0]])
    assert F.multilabel_margin_loss(x, torch.tensor([[0, -1, -1]])).item() == 0.0


def test_what_is_not_a_number_is_no_probability():
    unknown, half = torch.tensor([float("nan"), 0.5]), torch.tensor([0.5, 0.5])
    with raises(RuntimeError, "all elements of input should be between 0 and 1"):
        F.binary_cross_entropy(unknown, half)
    with raises(RuntimeError, "all elements of target should be between 0 and 1"):
        F.binary_cross_entropy(half, unknown)


@pytest.mark.parametrize("padding", ["border", "reflection"])
def test_an_image_does_not_change_with_a_point_on_its_edge(padding):
    image = torch.arange(9.0).reshape(1, 1, 3, 3)
    grid = torch.tensor([[[[1.0, 1.0], [-1.0, 0.5], [0.5, -1.0]]]], requires_grad=True)
    F.grid_sample(image, grid, padding_mode=padding, align_corners=True).sum().backward()
    assert grid.grad.tolist() == [[[[0.0, 0.0], [0.0, 3.0], [1.0, 0.0]]]]


def test_a_matrix_without_an_inverse_has_no_gradient_of_its_logarithmic_determinant():
    a = torch.tensor([[1.0, 1.0, 2.0], [2.0, 2.0, 1.0], [0.0, 0.0, 0.0]], requires_grad=True)
    for function in (torch.logdet, lambda a: torch.linalg.slogdet(a)[1]):
        result = function(a)
        (gradient,) = torch.autograd.grad(result, a)
        assert result == -float("inf")
        assert gradient[:2].isnan().all() and gradient[2, :2].tolist() == [float("inf"), -float("inf")]
        assert torch.func.jvp(function, (a.detach(),), (torch.ones(3, 3),))[1].isnan()
    both = torch.stack([a.detach(), torch.eye(3)]).requires_grad_()
    (gradient,) = torch.autograd.grad(torch.logdet(both)[1], both)
    assert torch.equal(gradient[1], torch.eye(3))


def test_what_is_not_a_number_is_not_outside_of_a_bounded_logit():
    x = single_leaf(float("nan"), -1.0, 0.5, 2.0)
    torch.logit(x, 0.1).sum().backward()
    assert x.grad[0].isnan() and x.grad[1:].tolist() == [0.0, 4.0, 0.0]


@pytest.mark.parametrize("function", [torch.median, torch.nanmedian])
def test_a_median_of_nothing_has_a_gradient_without_elements(function):
    x = torch.ones(0, 3, requires_grad=True)
    middle = function(x)
    (gradient,) = torch.autograd.grad(middle, x)
    assert middle.isnan() and gradient.shape == (0, 3)
    assert torch.func.jvp(function, (x.detach(),), (torch.ones(0, 3),))[1] == 0
    integers = {torch.int64: -(2**63), torch.int32: -(2**31), torch.uint8: 0, torch.bool: True}
    for dtype, expected in integers.items():
        assert function(torch.ones(0, dtype=dtype)).item() == expected
