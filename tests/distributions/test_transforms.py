"""Maps of samples, and the distributions of what they make."""

import pytest
import rushlight as torch
import rushlight.distributions as D
from rushlight.distributions import transforms as maps
from support import raises


def double(*values, **options):
    return torch.tensor(values, dtype=torch.float64, **options)


MAPS = {
    "affine": (lambda **options: maps.AffineTransform(0.5, -2.0, **options), double(-1.0, 0.3)),
    "affine_of_tensors": (
        lambda **options: maps.AffineTransform(double(0.5, 1.0), double(2.0, 3.0), **options),
        double(-1.0, 0.3),
    ),
    "exp": (maps.ExpTransform, double(-1.0, 0.3)),
    "power": (lambda **options: maps.PowerTransform(double(2.5), **options), double(0.2, 1.7)),
    "sigmoid": (maps.SigmoidTransform, double(-1.0, 0.3)),
    "softplus": (maps.SoftplusTransform, double(-1.0, 0.3)),
    "tanh": (maps.TanhTransform, double(-1.0, 0.3)),
    "composed": (
        lambda **options: maps.ComposeTransform(
            [maps.AffineTransform(1.0, 2.0), maps.ExpTransform()], **options
        ),
        double(-1.0, 0.3),
    ),
}


@pytest.mark.parametrize("name", MAPS)
def test_a_map_has_an_inverse_and_a_slope(name):
    make, x = MAPS[name]
    transform = make()
    x = x.clone().requires_grad_()
    y = transform(x)
    assert torch.allclose(transform.inv(y), x) and transform.inv.inv is transform
    (slope,) = torch.autograd.grad(y.sum(), x)
    found = transform.log_abs_det_jacobian(x, y)
    assert torch.allclose(found, slope.abs().log())
    assert torch.allclose(transform.inv.log_abs_det_jacobian(y, x), -found)
    assert bool(transform.codomain.check(y).all()) and bool(transform.domain.check(x).all())
    assert transform.bijective and bool((torch.as_tensor(transform.sign) == slope.sign()).all())
    assert transform == make() and transform != maps.AbsTransform() and transform.inv == make().inv
    assert transform.forward_shape((2,)) == transform.inverse_shape((2,)) == (2,)


@pytest.mark.parametrize("name", [name for name in MAPS if name != "composed"])
def test_a_map_may_keep_the_last_pair(name):
    make, x = MAPS[name]
    transform = make(cache_size=1)
    y = transform(x)
    assert transform(x) is y and transform.inv(y) is x and transform.with_cache(1) is transform
    assert make().with_cache()(x) is not make()(x)
    with raises(ValueError, "cache_size must be 0 or 1"):
        maps.ExpTransform(cache_size=2)


def test_maps_are_shown_by_their_names():
    assert repr(maps.ExpTransform()) == "ExpTransform()"
    assert repr(maps.ExpTransform().inv) == "_InverseTransform(ExpTransform())"
    both = maps.ComposeTransform([maps.ExpTransform(), maps.AffineTransform(0.0, 1.0)])
    assert repr(both) == "ComposeTransform(\n    ExpTransform(),\n    AffineTransform()\n)"
    assert maps.AffineTransform(0, 1, event_dim=1).event_dim == 1 and both.event_dim == 0
    assert maps.identity_transform(double(2.0)).tolist() == [2.0]
    assert maps.AbsTransform()(double(-2.0)).tolist() == [2.0] and not maps.AbsTransform().bijective


def test_known_distributions_are_mapped_ones():
    x = double(0.3, 0.8)
    pairs = [
        (
            D.TransformedDistribution(D.Normal(double(0.1), double(0.5)), maps.ExpTransform()),
            D.LogNormal(double(0.1), double(0.5)),
        ),
        (
            D.TransformedDistribution(D.Normal(double(0.0), double(1.0)), [maps.AffineTransform(0.5, 2.0)]),
            D.Normal(double(0.5), double(2.0)),
        ),
        (
            D.TransformedDistribution(D.Uniform(double(0.0), double(1.0)), [maps.AffineTransform(1.0, -1.0)]),
            D.Uniform(double(0.0), double(1.0)),
        ),
    ]
    for made, known in pairs:
        assert torch.allclose(made.log_prob(x), known.log_prob(x)) and torch.allclose(
            made.cdf(x), known.cdf(x)
        )
        assert torch.allclose(made.icdf(x), known.icdf(x)) and repr(made) == "TransformedDistribution()"
        assert (
            made.has_rsample
            and made.batch_shape == known.batch_shape
            and made.event_shape == known.event_shape
        )


def test_a_squashed_policy_has_a_density():
    mean = double(0.3, -0.2, requires_grad=True)
    made = D.Independent(
        D.TransformedDistribution(D.Normal(mean, 1.0), [maps.TanhTransform(cache_size=1)]), 1
    )
    torch.manual_seed(0)
    action = made.rsample((5,))
    found = made.log_prob(action)
    assert found.shape == (5,) and bool((action.abs() < 1).all())
    x = action.atanh()
    expected = D.Normal(mean, 1.0).log_prob(x) - (1 - action**2).log()
    assert torch.allclose(found, expected.sum(-1))
    found.sum().backward()
    assert mean.grad.isfinite().all()


def test_dimensions_may_be_mapped_together():
    base = D.Normal(torch.zeros(3, dtype=torch.float64), 1.0)
    made = D.TransformedDistribution(base, maps.AffineTransform(1.0, 2.0, event_dim=1))
    assert made.batch_shape == () and made.event_shape == (3,) and isinstance(made.base_dist, D.Independent)
    x = double(0.5, 1.0, 2.0)
    assert made.log_prob(x).item() == pytest.approx(D.Normal(1.0, 2.0).log_prob(x).sum().item())
    wide = D.TransformedDistribution(D.Normal(0.0, 1.0), maps.AffineTransform(torch.zeros(4), 1.0))
    assert wide.batch_shape == (4,) and wide.sample((2,)).shape == (2, 4)
    assert wide.expand((3, 4)).sample().shape == (3, 4) and made.expand((2,)).rsample().shape == (2, 3)
    assert bool(made.support.check(x))


def test_misuse_is_refused():
    base = D.Normal(0.0, 1.0)
    with raises(ValueError, "transforms must be a Transform or list, but was 3"):
        D.TransformedDistribution(base, 3)
    with raises(ValueError, "transforms must be a Transform or a list of Transforms"):
        D.TransformedDistribution(base, [3])
    with raises(
        ValueError, "base_distribution needs to have shape with size at least 1, but got torch.Size([])."
    ):
        D.TransformedDistribution(base, maps.AffineTransform(0.0, 1.0, event_dim=1))
    with raises(
        ValueError, "Expected value argument (Tensor of shape ()) to be within the support (GreaterThan(low"
    ):
        D.TransformedDistribution(base, maps.ExpTransform()).log_prob(torch.tensor(-1.0))
