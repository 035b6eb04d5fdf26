"""Distributions of angles, matrices, tails and shares, and maps of parts. The numbers are torch's."""

import pytest
import rushlight as torch
from support import raises

D = torch.distributions
T = torch.tensor

MADE = {
    "ContinuousBernoulli": (lambda: D.ContinuousBernoulli(T([0.2, 0.4999, 0.7])), T([0.3, 0.4, 0.9])),
    "GeneralizedPareto": (
        lambda: D.GeneralizedPareto(T([0.0, 1.0, 0.0]), T([1.0, 2.0, 1.0]), T([0.2, 0.0, -0.5])),
        T([0.3, 1.4, 0.9]),
    ),
    "LogisticNormal": (lambda: D.LogisticNormal(T([0.0, 1.0]), T([1.0, 2.0])), T([0.3, 0.3, 0.4])),
    "LowRankMultivariateNormal": (
        lambda: D.LowRankMultivariateNormal(
            torch.zeros(2, 3), torch.arange(6.0).reshape(3, 2) / 5, T([1.0, 2.0, 3.0])
        ),
        torch.ones(2, 3),
    ),
    "VonMises": (lambda: D.VonMises(T([0.0, 1.0]), T([1.0, 30.0])), T([0.3, 1.1])),
    "Wishart": (
        lambda: D.Wishart(T([4.0, 5.0]), covariance_matrix=T([[2.0, 0.5], [0.5, 1.0]])),
        T([[1.0, 0.3], [0.3, 2.0]]),
    ),
}
RECORDED = {
    "ContinuousBernoulli": {
        "mean": [0.388, 0.5, 0.5698],
        "variance": [0.0759, 0.0833, 0.0804],
        "entropy": [-0.0764, 0.0, -0.0294],
        "log_prob": [0.1984, 0.0, 0.3092],
        "cdf": [0.4537, 0.4, 0.8578],
        "icdf": [0.0562, 0.2, 0.3971],
    },
    "GeneralizedPareto": {
        "mean": [1.25, 3.0, 0.6667],
        "variance": [2.6042, 4.0, 0.2222],
        "entropy": [1.2, 1.6931, 0.5],
        "log_prob": [-0.3496, -0.8931, -0.5978],
        "cdf": [0.2527, 0.1813, 0.6975],
        "icdf": [0.1065, 1.4463, 0.3267],
    },
    "LogisticNormal": {
        "log_prob": [0.5741],
    },
    "LowRankMultivariateNormal": {
        "mean": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        "variance": [1.04, 2.52, 4.64, 1.04, 2.52, 4.64],
        "entropy": [5.4628, 5.4628],
        "log_prob": [-4.6279, -4.6279],
    },
    "VonMises": {
        "mean": [0.0, 1.0],
        "variance": [0.5536, 0.0168],
        "log_prob": [-1.1185, 0.6275],
    },
    "Wishart": {
        "mean": [8.0, 2.0, 2.0, 4.0, 10.0, 2.5, 2.5, 5.0],
        "variance": [32.0, 9.0, 9.0, 8.0, 40.0, 11.25, 11.25, 10.0],
        "entropy": [7.1408, 7.65],
        "log_prob": [-5.3627, -6.4176],
    },
}


@pytest.mark.parametrize("name", MADE)
def test_densities_and_moments(name):
    make, value = MADE[name]
    made = make()
    for what, expected in RECORDED[name].items():
        if what in ("log_prob", "cdf"):
            found = getattr(made, what)(value)
        elif what == "icdf":
            found = made.icdf(T([0.1, 0.2, 0.3]))
        else:
            found = made.entropy() if what == "entropy" else getattr(made, what)
        torch.testing.assert_close(found.flatten(), T(expected), atol=2e-4, rtol=2e-4)


# Torch warns of every matrix that is not singular.
@pytest.mark.filterwarnings("ignore:Singular sample detected")
@pytest.mark.parametrize("name", MADE)
def test_samples_are_in_the_support_and_have_its_shape(name):
    torch.manual_seed(0)
    made = MADE[name][0]()
    drawn = made.sample((4,))
    assert drawn.shape == (4, *made.batch_shape, *made.event_shape)
    assert made.support.check(drawn).all()
    more = made.expand((3, *made.batch_shape))
    assert more.sample().shape == (3, *made.batch_shape, *made.event_shape)


@pytest.mark.parametrize("name", [name for name in MADE if name not in ("VonMises", "Wishart")])
def test_gradients_pass_samples(name):
    make, _ = MADE[name]
    made = make()
    parameter = next(iter(made.__dict__.get(n) for n in ("probs", "loc") if n in made.__dict__), None)
    if parameter is None:
        parameter = made.base_dist.base_dist.loc
    parameter.requires_grad_()
    made.rsample().sum().backward()
    assert parameter.grad is not None


def test_a_triangle_of_correlations_has_rows_of_length_one():
    x = torch.linspace(-1, 1, 6)
    transform = D.CorrCholeskyTransform()
    root = transform(x)
    torch.testing.assert_close((root @ root.mT).diagonal(), torch.ones(4))
    torch.testing.assert_close(transform.inv(root), x)
    assert transform.log_abs_det_jacobian(x, root).item() == pytest.approx(-2.8751, abs=1e-4)
    assert tuple(transform.forward_shape((5, 6))) == (5, 4, 4)
    with raises(ValueError, "Input is not a flattened lower-diagonal number"):
        transform.forward_shape((4,))
    assert torch.equal(D.biject_to(D.constraints.corr_cholesky)(torch.zeros(3)), torch.eye(3))


def test_parts_are_mapped_each_in_its_way():
    x = T([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    parts = D.CatTransform([D.ExpTransform(), D.identity_transform], dim=-1, lengths=[2, 1])
    torch.testing.assert_close(parts(x), torch.cat([x[:, :2].exp(), x[:, 2:]], -1))
    torch.testing.assert_close(parts.inv(parts(x)), x)
    torch.testing.assert_close(parts.log_abs_det_jacobian(x, parts(x)), T([[0.0, 1.0, 0.0], [3.0, 4.0, 0.0]]))
    slices = D.StackTransform([D.ExpTransform(), D.identity_transform], dim=0)
    torch.testing.assert_close(slices(x), torch.stack([x[0].exp(), x[1]]))
    torch.testing.assert_close(slices.inv(slices(x)), x)
    with pytest.raises(AssertionError):
        parts(torch.zeros(4))


def test_shapes_and_probabilities_as_maps():
    shaped = D.ReshapeTransform((4,), (2, 2))
    assert shaped(torch.zeros(3, 4)).shape == (3, 2, 2)
    assert torch.equal(shaped.log_abs_det_jacobian(torch.zeros(3, 4), None), torch.zeros(3))
    with raises(ValueError, "in_shape, out_shape have different numbers of elements"):
        D.ReshapeTransform((4,), (3,))
    copula = D.TransformedDistribution(
        D.MultivariateNormal(torch.zeros(2), torch.eye(2)),
        [D.CumulativeDistributionTransform(D.Normal(0.0, 1.0))],
    )
    assert copula.log_prob(T([0.2, 0.3])).item() == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("name", ["LogNormal", "Gumbel", "HalfNormal", "HalfCauchy"])
def test_what_is_mapped_says_so(name):
    made = getattr(D, name)(*[torch.ones(2)] * (1 if name.startswith("Half") else 2))
    assert isinstance(made, D.TransformedDistribution)
    assert not isinstance(made, D.Normal)
    assert made.expand((3, 2)).sample().shape == (3, 2)


@pytest.mark.parametrize("name", ["Normal", "Gamma", "Beta", "Bernoulli", "Exponential", "Poisson"])
def test_what_is_of_the_exponential_family_says_so(name):
    made = getattr(D, name)(*[T([0.6, 0.7])] * (2 if name in ("Normal", "Gamma", "Beta") else 1))
    assert isinstance(made, D.ExponentialFamily)
    if name not in ("Poisson", "Beta"):
        # Both have a measure beside the exponential, of which there is no mean here.
        torch.testing.assert_close(D.ExponentialFamily.entropy(made), made.entropy())
