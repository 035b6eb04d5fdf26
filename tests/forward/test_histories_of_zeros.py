"""Tangents of products of which some factors have no tangent: they lead to these factors all the same."""

import pytest
import rushlight as torch
from rushlight.autograd import forward_ad

F = torch.nn.functional
PRODUCTS = {
    "mul": (torch.mul, [(2, 2), (2, 2)]),
    "mul by a number": (lambda x: x * 2, [(2, 2)]),
    "mul in place": (lambda x: x.clone().mul_(2), [(2, 2)]),
    "div by a number": (lambda x: x / 2, [(2, 2)]),
    "matmul": (torch.matmul, [(3, 2, 2), (2, 2)]),
    "mv": (torch.mv, [(2, 2), (2,)]),
    "dot": (torch.dot, [(2,), (2,)]),
    "linear": (F.linear, [(2, 2), (2, 2), (2,)]),
    "conv1d": (F.conv1d, [(1, 1, 3), (1, 1, 2), (1,)]),
    "bilinear": (F.bilinear, [(2, 2), (2, 2), (1, 2, 2)]),
    "addcmul": (torch.addcmul, [(2, 2), (2, 2), (2, 2)]),
    "baddbmm": (torch.baddbmm, [(1, 2, 2), (1, 2, 2), (1, 2, 2)]),
}


def inputs(shapes):
    return [torch.full(shape, 2.0, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_tangent_for_one_factor_has_a_gradient_of_zeros_with_respect_to_it(name):
    function, shapes = PRODUCTS[name]
    first, *others = inputs(shapes)
    if name in {"addcmul", "baddbmm"}:  # the first input is added, the second multiplied
        others = [others[0], first, *others[1:]]
        first, others = others[0], others[1:]
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(first, torch.ones_like(first))
        arguments = [others[0], dual, *others[1:]] if name in {"addcmul", "baddbmm"} else [dual, *others]
        tangent = forward_ad.unpack_dual(function(*arguments)).tangent
    assert tangent.requires_grad
    (slope,) = torch.autograd.grad(tangent.sum(), first, retain_graph=True)
    assert slope.shape == first.shape and not slope.any()
    if others:
        slopes = torch.autograd.grad(tangent.sum(), others, allow_unused=True)
        assert any(slope is not None and slope.any() for slope in slopes)


def test_the_tangent_for_what_is_added_leads_to_the_factors():
    x, weight, bias = inputs([(2, 2), (2, 2), (2,)])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(bias, torch.tensor([3.0, 4.0]))
        tangent = forward_ad.unpack_dual(F.linear(x, weight, dual)).tangent
    assert tangent.tolist() == [[3.0, 4.0]] * 2
    for slope in torch.autograd.grad(tangent.sum(), [x, weight]):
        assert slope.shape == (2, 2) and not slope.any()


@pytest.mark.parametrize(
    "function", [lambda x: x + 1, lambda x: -x, torch.sum, lambda x: torch.cat([x, x]), torch.t]
)
def test_what_does_not_multiply_has_a_tangent_without_history(function):
    (x,) = inputs([(2, 2)])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones(2, 2))
        tangent = forward_ad.unpack_dual(function(dual)).tangent
    assert not tangent.requires_grad


def test_without_recording_there_is_no_history_of_zeros():
    (x,) = inputs([(2, 2)])
    with forward_ad.dual_level(), torch.no_grad():
        dual = forward_ad.make_dual(x, torch.ones(2, 2))
        assert not forward_ad.unpack_dual(dual * 2).tangent.requires_grad


def test_the_curvature_of_a_piecewise_linear_function_can_be_differentiated():
    layer = torch.nn.Linear(2, 1)
    x = torch.ones(3, 2)

    def slope(x):
        return torch.func.jvp(lambda x: layer(x), (x,), (torch.ones(3, 2),))[1]

    curvature = torch.func.jvp(slope, (x,), (torch.ones(3, 2),))[1]
    assert not curvature.any()
