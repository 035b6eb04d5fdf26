"""Maps from any numbers to those that a constraint allows."""

import pytest
import rushlight as torch
from rushlight.distributions import biject_to, constraints, transform_to
from rushlight.distributions import transforms as maps
from support import raises

ALLOWED = [
    constraints.real,
    constraints.positive,
    constraints.nonnegative,
    constraints.greater_than(1.5),
    constraints.less_than(-2.0),
    constraints.unit_interval,
    constraints.interval(-1.0, 3.0),
    constraints.half_open_interval(0.0, 2.0),
    constraints.real_vector,
    constraints.independent(constraints.positive, 1),
    constraints.simplex,
]
MATRICES = [constraints.lower_cholesky, constraints.positive_definite]


def numbers(*shape):
    generator = torch.Generator().manual_seed(5)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("constraint", ALLOWED, ids=str)
def test_a_bijection_leads_to_what_is_allowed_and_back(constraint):
    bijection = biject_to(constraint)
    x = numbers(4, 3)
    y = bijection(x)
    assert constraint.check(y).all() and bijection.bijective
    assert torch.allclose(bijection.inv(y), x)
    assert bijection.forward_shape(x.shape) == y.shape and bijection.inverse_shape(y.shape) == x.shape


@pytest.mark.parametrize("constraint", [*ALLOWED, *MATRICES], ids=str)
def test_a_map_leads_to_what_is_allowed_and_is_differentiable(constraint):
    transform = transform_to(constraint)
    x = numbers(4, 3, 3).requires_grad_()
    y = transform(x)
    assert constraint.check(y).all()
    assert torch.allclose(transform(transform.inv(y)), y)
    torch.autograd.gradcheck(transform, (x,))


def test_broken_sticks_stretch_space_as_their_slopes_say():
    bijection = biject_to(constraints.simplex)
    x = numbers(3)
    slopes = torch.autograd.functional.jacobian(lambda x: bijection(x)[:-1], x)
    assert torch.allclose(bijection.log_abs_det_jacobian(x, bijection(x)), slopes.logdet())


def test_equal_shares_stand_where_numbers_are_zero():
    assert torch.allclose(biject_to(constraints.simplex)(torch.zeros(3)), torch.full((4,), 0.25))


def test_what_stretches_an_event_is_summed_over_it():
    transform = maps.IndependentTransform(maps.ExpTransform(), 1)
    x = numbers(2, 3)
    assert torch.equal(transform.log_abs_det_jacobian(x, transform(x)), x.sum(-1))
    assert repr(transform.with_cache()) == "IndependentTransform(ExpTransform(), 1)"
    with raises(ValueError, "Too few dimensions on input"):
        transform(torch.tensor(1.0))


@pytest.mark.parametrize("make", [maps.SoftmaxTransform, maps.StickBreakingTransform])
def test_maps_of_vectors_have_no_shape_without_one(make):
    assert make() == make()
    with raises(ValueError, "Too few dimensions on input"):
        make().forward_shape(())


def test_matrices_and_choices_have_no_bijection():
    with raises(NotImplementedError, "Cannot transform _PositiveDefinite constraints"):
        biject_to(constraints.positive_definite)
    with raises(NotImplementedError, "Cannot transform _Boolean constraints"):
        transform_to(constraints.boolean)


def test_maps_of_other_constraints_can_be_registered():
    class Even(constraints.Constraint):
        pass

    @transform_to.register(Even)
    def make(constraint):
        return maps.AffineTransform(0.0, 2.0)

    assert transform_to(Even())(torch.tensor(1.5)) == 3.0
    with raises(TypeError, "Expected constraint to be either a Constraint subclass or instance, but got 3"):
        biject_to.register(3, make)


def test_what_libraries_take_from_the_helpers_is_there():
    from rushlight.distributions.utils import _standard_normal, _sum_rightmost

    assert torch.equal(_sum_rightmost(torch.ones(2, 3, 4), 2), torch.full((2,), 12.0))
    torch.manual_seed(3)
    drawn = _standard_normal(torch.Size([5]), dtype=torch.float64, device=torch.device("cpu"))
    torch.manual_seed(3)
    assert torch.equal(drawn, torch.normal(torch.zeros(5).double(), torch.ones(5).double()))
