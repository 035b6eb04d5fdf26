"""Tangents that do not depend on the tensor, and of what is straight."""

import pytest
import rushlight as torch
from rushlight.autograd import forward_ad


@pytest.mark.parametrize(
    "function", [lambda x: x + 1, lambda x: -x, torch.sum, lambda x: torch.cat([x, x]), torch.t]
)
def test_what_does_not_multiply_has_a_tangent_without_history(function):
    x = torch.full((2, 2), 2.0, requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones(2, 2))
        tangent = forward_ad.unpack_dual(function(dual)).tangent
    assert not tangent.requires_grad


def test_without_recording_there_is_no_history_of_zeros():
    x = torch.full((2, 2), 2.0, requires_grad=True)
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
