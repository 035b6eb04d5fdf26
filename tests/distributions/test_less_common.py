"""Distributions that are less common: densities, moments, samples. The numbers are torch's."""

import math

import pytest
import rushlight as torch
from support import raises

D = torch.distributions
T = torch.tensor

MADE = {
    "NegativeBinomial": lambda: D.NegativeBinomial(T([2.0, 3.5]), T([0.3, 0.6])),
    "Pareto": lambda: D.Pareto(T([1.0, 2.0]), T([3.0, 2.5])),
    "Weibull": lambda: D.Weibull(T([1.0, 2.0]), T([3.0, 1.5])),
    "Kumaraswamy": lambda: D.Kumaraswamy(T([1.5, 2.0]), T([3.0, 1.5])),
    "InverseGamma": lambda: D.InverseGamma(T([3.0, 4.0]), T([3.0, 1.5])),
    "FisherSnedecor": lambda: D.FisherSnedecor(T([3.0, 4.0]), T([6.0, 5.0])),
    "LogitRelaxedBernoulli": lambda: torch.distributions.relaxed_bernoulli.LogitRelaxedBernoulli(
        T(0.7), T([0.3, 0.6])
    ),
    "RelaxedBernoulli": lambda: D.RelaxedBernoulli(T(0.7), T([0.3, 0.6])),
    "RelaxedOneHotCategorical": lambda: D.RelaxedOneHotCategorical(T(0.7), T([[0.3, 0.6], [0.1, 0.9]])),
    "MixtureSameFamily": lambda: D.MixtureSameFamily(
        D.Categorical(T([[1.0, 3.0], [2.0, 2.0]])),
        D.Normal(T([[0.0, 3.0], [1.0, 2.0]]), T([[1.0, 0.5], [2.0, 1.0]])),
    ),
}
VALUES = {
    "NegativeBinomial": T([1.0, 4.0]),
    "Pareto": T([2.0, 2.5]),
    "Kumaraswamy": T([0.2, 0.7]),
    "RelaxedBernoulli": T([0.2, 0.7]),
    "RelaxedOneHotCategorical": T([0.25, 0.75]),
}
RECORDED = {
    "FisherSnedecor": {
        "log_prob": [-0.509068, -1.419826],
        "mean": [1.5, 1.666666],
        "variance": [5.25, 9.722222],
    },
    "InverseGamma": {"log_prob": [-0.624721, -3.197224], "mean": [1.5, 0.5], "variance": [2.25, 0.125]},
    "Kumaraswamy": {
        "log_prob": [0.511961, 0.405265],
        "mean": [0.368181, 0.589048],
        "variance": [0.042464, 0.053021],
    },
    "LogitRelaxedBernoulli": {"log_prob": [-2.081789, -1.845076]},
    "MixtureSameFamily": {"log_prob": [-2.430207, -1.299384], "mean": [2.25, 1.5], "variance": [2.125, 2.75]},
    "NegativeBinomial": {
        "log_prob": [-1.224175, -2.094983],
        "mean": [0.857142, 5.250000],
        "variance": [1.224489, 13.125002],
    },
    "Pareto": {"log_prob": [-1.673976, -0.557858], "mean": [1.5, 3.333333], "variance": [0.75, 8.888889]},
    "RelaxedBernoulli": {"log_prob": [0.085825, -0.191111]},
    "RelaxedOneHotCategorical": {"log_prob": [-0.070431, -0.540699]},
    "Weibull": {
        "log_prob": [-0.412682, -1.081042],
        "mean": [0.892979, 1.805490],
        "variance": [0.105332, 1.502761],
    },
}


def answers(name):
    made = MADE[name]()
    value = VALUES.get(name, T([0.5, 1.5]))
    found = {"log_prob": made.log_prob(value)}
    for moment in ("mean", "variance"):
        try:
            found[moment] = getattr(made, moment)
        except NotImplementedError:
            continue
    return {key: one.tolist() for key, one in found.items()}


@pytest.mark.parametrize("name", sorted(MADE))
def test_densities_and_moments(name):
    found = answers(name)
    assert found.keys() == RECORDED[name].keys()
    for key, expected in RECORDED[name].items():
        assert found[key] == pytest.approx(expected, rel=2e-5, nan_ok=True), key


@pytest.mark.parametrize("name", sorted(set(MADE) - {"FisherSnedecor"}))
def test_means_of_samples(name):
    made = MADE[name]()
    samples = made.sample((4000,))
    assert samples.shape == (4000, *made.batch_shape, *made.event_shape)
    if "mean" in RECORDED[name]:
        deviation = (made.variance / 4000).sqrt()
        assert ((samples.mean(0) - made.mean).abs() < 6 * deviation).all()
    assert made.log_prob(samples).isfinite().all()


@pytest.mark.parametrize("name", sorted(MADE))
def test_there_can_be_more_of_them(name):
    made = MADE[name]()
    more = made.expand((3, 2))
    assert more.batch_shape == (3, 2) and more.event_shape == made.event_shape
    value = VALUES.get(name, T([0.5, 1.5]))
    assert more.log_prob(value).allclose(made.log_prob(value).expand(3, 2))


@pytest.mark.parametrize("name", ["Pareto", "Weibull", "RelaxedBernoulli", "RelaxedOneHotCategorical"])
def test_gradients_pass_samples(name):
    parameter = T([0.6, 0.7], requires_grad=True)
    first = T(0.5) if name.startswith("Relaxed") else T([1.0, 1.0])
    getattr(D, name)(first, parameter).rsample((3,)).square().sum().backward()
    assert parameter.grad.abs().sum() > 0


def test_a_choice_passes_gradients_as_its_chances():
    logits = torch.zeros(3, requires_grad=True)
    sample = D.OneHotCategoricalStraightThrough(logits=logits).rsample()
    assert sorted(sample.tolist()) == pytest.approx([0.0, 0.0, 1.0])
    (sample * T([1.0, 2.0, 3.0])).sum().backward()
    assert logits.grad.tolist() == pytest.approx([-1 / 3, 0.0, 1 / 3], abs=1e-6)


def test_the_parts_of_a_mixture_fit():
    with raises(ValueError, "`mixture_distribution component` (3) does not equal `component_distribution"):
        D.MixtureSameFamily(D.Categorical(torch.ones(3)), D.Normal(torch.zeros(2), 1.0))
    with raises(ValueError, "The Component distribution needs to be an instance of"):
        D.MixtureSameFamily(D.Categorical(torch.ones(2)), 3)


def test_classes_of_others_are_expanded_by_their_own():
    class Own(D.Distribution):
        arg_constraints = {"rate": D.constraints.positive}  # noqa: RUF012

        def __init__(self, rate, validate_args=None):
            self.rate = rate
            super().__init__(rate.shape, validate_args=validate_args)

        @D.constraints.dependent_property(is_discrete=False, event_dim=0)
        def support(self):
            return D.constraints.greater_than(self.rate)

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Own, _instance)
            new.rate = self.rate.expand(batch_shape)
            super(Own, new).__init__(batch_shape, validate_args=False)
            return new

    assert Own(torch.ones(2)).expand((3, 2)).rate.shape == (3, 2)
    assert D.constraints.is_dependent(Own.support) and not D.constraints.is_dependent(
        Own(torch.ones(1)).support
    )
    assert Own.support.event_dim == 0 and not Own.support.is_discrete

    class Further(Own):
        def __init__(self):
            super().__init__(torch.ones(2))

    with raises(
        NotImplementedError, "Subclass Further of Own that defines a custom __init__ method must also"
    ):
        Further().expand((3, 2))


def test_constraints_of_matrices():
    c = D.constraints
    eye, skew = torch.eye(2), T([[0.0, 1.0], [-1.0, 0.0]])
    assert c.symmetric.check(eye) and not c.symmetric.check(skew)
    assert c.positive_semidefinite.check(T([[1.0, 1.0], [1.0, 1.0]])) and not c.positive_semidefinite.check(
        -eye
    )
    assert c.lower_triangular.check(eye) and not c.lower_triangular.check(skew)
    assert c.square.check(eye) and not c.square.check(torch.ones(2, 3))
    assert c.corr_cholesky.check(eye) and not c.corr_cholesky.check(2 * eye)


def test_constraints_of_parts():
    c = D.constraints
    both = c.cat([c.positive, c.real], dim=-1, lengths=[1, 2])
    assert both.check(T([-1.0, -1.0, 1.0])).tolist() == [False, True, True]
    assert c.stack([c.positive, c.real], dim=0).check(T([-1.0, -1.0])).tolist() == [False, True]


def test_entropy_from_the_normaliser():
    class Exponential(D.ExponentialFamily):
        arg_constraints = {"rate": D.constraints.positive}  # noqa: RUF012
        _mean_carrier_measure = 0

        def __init__(self, rate):
            self.rate = rate
            super().__init__(rate.shape)

        @property
        def _natural_params(self):
            return (-self.rate,)

        def _log_normalizer(self, x):
            return -torch.log(-x)

    assert Exponential(T([2.0])).entropy().item() == pytest.approx(1 - math.log(2), rel=1e-6)


def test_distributions_of_chances_tell_what_was_given():
    for made in (
        torch.distributions.Categorical(torch.ones(3)),
        torch.distributions.Bernoulli(logits=torch.zeros(3)),
        torch.distributions.OneHotCategorical(torch.ones(3)),
    ):
        assert made.param_shape == (3,)
        assert made._new(torch.Size((2,))).shape == (2,)


def test_how_shares_move_with_how_concentrated_they_are():
    x = torch.tensor([0.5, 0.3, 0.9, 1e-3, 0.999, 0.02]).double()
    a = torch.tensor([1.0, 0.01, 50.0, 0.5, 5.0, 100.0]).double()
    b = torch.tensor([1.0, 2.0, 7.0, 3.0, 0.5, 5000.0]).double()
    found = torch._dirichlet_grad(x, a, a + b)
    expected = torch.tensor(
        [
            0.6931471805599455,
            31.060858854942285,
            0.017931909,
            0.011711267722807705,
            0.2098441292649038,
            0.00019837,
        ]
    ).double()
    assert torch.allclose(found, expected, rtol=2e-4, atol=0)


def test_the_gradient_of_how_concentrated_shares_are():
    from rushlight.distributions.dirichlet import _Dirichlet_backward

    found = _Dirichlet_backward(
        torch.tensor([0.2, 0.3, 0.5]), torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 0.0, 2.0])
    )
    assert torch.allclose(found, torch.tensor([-0.0454, -0.2174, 0.1491]), atol=1e-4)


def test_what_broadcasts_with_fewer_dimensions_can_be_expanded():
    made = D.LowRankMultivariateNormal(torch.zeros(4, 3), torch.ones(3, 2), torch.tensor([5.0, 1.5, 3.0]))
    wider = made.expand((2, 4))
    value = torch.tensor([0.5, -1.0, 2.0])
    assert wider.sample().shape == (2, 4, 3)
    assert wider.log_prob(value).shape == (2, 4)
    torch.testing.assert_close(wider.log_prob(value)[1, 2], made.log_prob(value)[2])


@pytest.mark.parametrize(
    ("name", "is_discrete", "event_dim"),
    [
        ("Uniform", False, 0),
        ("Pareto", False, 0),
        ("Binomial", True, 0),
        ("Categorical", True, 0),
        ("Multinomial", True, 1),
    ],
)
def test_a_class_says_of_its_support_what_is_the_same_for_all(name, is_discrete, event_dim):
    support = getattr(D, name).support
    assert (support.is_discrete, support.event_dim) == (is_discrete, event_dim)
    assert repr(support) == "DependentProperty()"


@pytest.mark.parametrize("name", ["MixtureSameFamily", "Independent", "TransformedDistribution"])
def test_a_class_does_not_know_the_support_of_its_parts(name):
    with raises(NotImplementedError, ".event_dim cannot be determined statically"):
        getattr(D, name).support.event_dim  # noqa: B018


def test_a_choice_of_a_vector_knows_the_choice_of_a_number():
    choice = D.OneHotCategorical(torch.tensor([1.0, 3.0]))._categorical
    assert isinstance(choice, D.Categorical)
    assert choice.probs.tolist() == [0.25, 0.75]
