"""Distributions: densities that add up, samples that gradients pass, and words for misuse."""

import math

import pytest
import rushlight as torch
import rushlight.distributions as D
from support import raises

CONTINUOUS = [
    lambda: D.Normal(0.3, 0.8),
    lambda: D.Laplace(0.3, 0.8),
    lambda: D.Gumbel(0.3, 0.8),
    lambda: D.LogNormal(0.1, 0.5),
    lambda: D.HalfNormal(0.8),
    lambda: D.Exponential(1.5),
    lambda: D.Gamma(2.5, 1.5),
    lambda: D.Uniform(-1.0, 2.0),
]
DISCRETE = [
    lambda: D.Bernoulli(torch.tensor([0.2, 0.7])),
    lambda: D.Binomial(4, torch.tensor([0.2, 0.7])),
    lambda: D.Categorical(torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])),
]


@pytest.mark.parametrize("make", CONTINUOUS)
def test_densities_add_up_to_one(make):
    made = make()
    low = 1e-4 if getattr(made.support, "lower_bound", None) == 0.0 else -12.0
    if isinstance(made, D.Uniform):
        low, high = -1.0, 1.9999
    else:
        high = 20.0
    x = torch.linspace(low, high, 40001)
    assert float(torch.trapezoid(made.log_prob(x).exp(), x)) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("make", DISCRETE)
def test_probabilities_add_up_to_one(make):
    made = make()
    found = made.log_prob(made.enumerate_support()).exp().sum(0)
    assert torch.allclose(found, torch.ones(made.batch_shape), atol=1e-5)


@pytest.mark.parametrize("make", CONTINUOUS + DISCRETE[:2])
def test_samples_have_the_mean_and_the_deviation(make):
    torch.manual_seed(0)
    made = make()
    drawn = made.sample((20000,))
    assert torch.allclose(drawn.mean(0), made.mean, atol=0.06)
    assert torch.allclose(drawn.std(0), made.stddev, atol=0.1)
    assert not drawn.requires_grad


@pytest.mark.parametrize("kind", [D.Gamma, D.Beta])
def test_gradients_pass_samples_to_concentrations(kind):
    torch.manual_seed(0)
    first = torch.tensor([0.7, 3.0], dtype=torch.float64, requires_grad=True)
    second = torch.tensor([1.5, 2.0], dtype=torch.float64, requires_grad=True)
    drawn = kind(first, second).rsample((20000,)).mean(0)
    (found,) = torch.autograd.grad(drawn.sum(), first)
    (expected,) = torch.autograd.grad(kind(first, second).mean.sum(), first)
    assert torch.allclose(found, expected, atol=0.05)


def test_gradients_pass_samples_to_means_and_deviations():
    mean, deviation = (torch.ones(3, requires_grad=True) for _ in range(2))
    drawn = D.Normal(mean, deviation).rsample()
    drawn.sum().backward()
    assert mean.grad.tolist() == [1, 1, 1]
    assert torch.allclose(deviation.grad, (drawn - mean) / deviation)


def test_vectors_have_a_covariance():
    covariance = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
    made = D.MultivariateNormal(torch.zeros(2), covariance)
    expected = -math.log(2 * math.pi) - 0.5 * torch.logdet(covariance)
    assert torch.allclose(made.log_prob(torch.zeros(2)), expected)
    other = D.MultivariateNormal(torch.zeros(2), precision_matrix=covariance.inverse())
    assert torch.allclose(other.covariance_matrix, covariance, atol=1e-5)
    assert made.rsample((4,)).shape == (4, 2)


def test_divergences_are_mean_differences_of_logarithms():
    p, q = D.Normal(0.0, 1.0), D.Normal(1.0, 2.0)
    torch.manual_seed(0)
    drawn = p.sample((50000,))
    mean = (p.log_prob(drawn) - q.log_prob(drawn)).mean()
    assert float(D.kl_divergence(p, q)) == pytest.approx(float(mean), abs=0.02)
    assert float(
        D.kl_divergence(D.Categorical(torch.ones(3)), D.Categorical(torch.ones(3)))
    ) == pytest.approx(0)


def test_dimensions_of_samples_may_be_those_of_one():
    made = D.Independent(D.Normal(torch.zeros(3, 2), 1.0), 1)
    assert (made.batch_shape, made.event_shape) == ((3,), (2,))
    assert made.log_prob(torch.zeros(3, 2)).shape == (3,)


@pytest.mark.parametrize(
    "call, text",
    [
        (
            lambda: D.Normal(torch.tensor(0.0), torch.tensor(-1.0)),
            "Expected parameter scale (Tensor of shape ()) of distribution Normal(loc: 0.0, scale: -1.0) to "
            "satisfy the constraint GreaterThan(lower_bound=0.0), but found invalid values:\n-1.0",
        ),
        (lambda: D.Bernoulli(), "Either `probs` or `logits` must be specified, but not both."),
        (
            lambda: D.Categorical(torch.tensor([0.2, 0.3])).log_prob(torch.tensor(5)),
            "Expected value argument (Tensor of shape ()) to be within the support "
            "(IntegerInterval(lower_bound=0, upper_bound=1)) of the distribution "
            "Categorical(probs: torch.Size([2])), but found invalid values:\n5",
        ),
        (lambda: D.Normal(0.0, 1.0).log_prob(1), "The value argument to log_prob must be a Tensor"),
    ],
)
def test_misuse_is_refused_in_words(call, text):
    with raises(ValueError, text):
        call()


def test_the_entropy_of_counts_is_that_of_all_ways_to_count():
    probs = torch.tensor([0.2, 0.3, 0.5])
    counts = D.Multinomial(3, probs)
    ways = [[i, j, 3 - i - j] for i in range(4) for j in range(4 - i)]
    logarithms = counts.log_prob(torch.tensor(ways, dtype=torch.float32))
    assert counts.entropy().item() == pytest.approx(-(logarithms.exp() * logarithms).sum().item(), rel=1e-5)


@pytest.mark.parametrize(
    ("constraint", "missing"),
    [
        ("interval", "upper_bound"),
        ("half_open_interval", "upper_bound"),
        ("integer_interval", "upper_bound"),
    ],
)
def test_constraints_between_bounds_want_both(constraint, missing):
    made = getattr(torch.distributions.constraints, constraint)
    with pytest.raises(TypeError, match=f"missing 1 required positional argument: '{missing}'"):
        made(0)
    with pytest.raises(TypeError, match="takes 3 positional arguments but 4 were given"):
        made(0, 1, 2)
    both = made(upper_bound=2, lower_bound=1)
    assert repr(both).endswith("(lower_bound=1, upper_bound=2)")
    assert (both.lower_bound, both.upper_bound) == (1, 2)


@pytest.mark.parametrize(
    ("constraint", "bound"),
    [
        ("greater_than", "lower_bound"),
        ("greater_than_eq", "lower_bound"),
        ("less_than", "upper_bound"),
        ("multinomial", "upper_bound"),
    ],
)
def test_constraints_with_a_bound_want_it(constraint, bound):
    made = getattr(torch.distributions.constraints, constraint)
    with pytest.raises(TypeError, match=f"missing 1 required positional argument: '{bound}'"):
        made()
    with pytest.raises(TypeError, match="unexpected keyword argument 'edge'"):
        made(edge=2)
    assert getattr(made(**{bound: 3}), bound) == 3
