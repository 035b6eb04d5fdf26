"""Derivatives where functions have none, or one that is infinite."""

import pytest
import rushlight as torch
from rushlight.func import grad, jvp
from rushlight.nn import functional

NAN, INF = float("nan"), float("inf")
DIRECTIONS = torch.tensor([1.0, 2.0, 4.0])


def moved(func, x):
    return jvp(func, (torch.tensor(x),), (DIRECTIONS,))[1]


@pytest.mark.parametrize("func", [torch.max, torch.min, torch.median])
def test_no_direction_leads_from_an_extreme_that_is_not_a_number(func):
    assert moved(func, [1.0, NAN, 3.0]).isnan()
    assert grad(func)(torch.tensor([1.0, NAN, 3.0])).equal(torch.tensor([0.0, 1.0, 0.0]))


def test_equal_elements_share_what_reaches_the_median_of_all():
    assert moved(torch.median, [3.0, 3.0, 1.0]) == 1.5
    assert grad(torch.median)(torch.tensor([3.0, 3.0, 1.0])).equal(torch.tensor([0.5, 0.5, 0.0]))
    assert grad(torch.nanmedian)(torch.tensor([2.0, NAN, 2.0])).equal(torch.tensor([0.5, 0.0, 0.5]))


def test_the_slope_of_digamma_at_a_pole_is_what_rounding_leaves():
    slope = grad(torch.digamma)(torch.tensor(-1.0))
    assert 1e14 < slope < 1e17
    assert grad(torch.digamma)(torch.tensor(INF)) == 0


def test_there_is_no_angle_at_the_origin():
    angle = grad(torch.atan2, argnums=(0, 1))(torch.tensor(0.0), torch.tensor(0.0))
    assert [float(part) for part in angle] == [0.0, 0.0]


def test_units_have_slopes_at_infinity():
    assert moved(functional.hardswish, [INF, 0.0, -INF]).equal(torch.tensor([1.0, 1.0, 0.0]))
    assert functional.logsigmoid(torch.tensor(INF)) == 0
    assert moved(functional.softshrink, [1.0, NAN, 3.0]).equal(DIRECTIONS)


def test_robust_losses_are_linear_far_away():
    loss = functional.huber_loss
    slope = grad(lambda x: loss(x, torch.zeros(3)))(torch.tensor([INF, -INF, 0.5]))
    torch.testing.assert_close(slope, torch.tensor([1.0, -1.0, 0.5]) / 3)


@pytest.mark.parametrize(
    "func", [lambda x: torch.linalg.vector_norm(x, 0), lambda x: torch.dist(x, x + 1, 0)]
)
def test_a_count_has_a_tangent_that_is_nothing(func):
    tangent = moved(func, [1.0, 2.0, 3.0])
    assert tangent.equal(torch.tensor(0.0))


@pytest.mark.parametrize("recorded", [False, True])
def test_tangents_pass_a_form_whose_weight_alone_is_trained(recorded):
    from rushlight.autograd import forward_ad

    weight = torch.ones(1, 2, 2, requires_grad=recorded)
    x, y = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones(1, 2))
        _, tangent = forward_ad.unpack_dual(functional.bilinear(dual, y, weight))
    assert tangent.equal(torch.tensor([[14.0]]))
