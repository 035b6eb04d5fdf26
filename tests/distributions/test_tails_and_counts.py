"""Distributions without a mean or a variance, and counts."""

import math

import pytest
import rushlight as torch
import rushlight.distributions as D
from support import raises


def double(*values, **options):
    return torch.tensor(values, dtype=torch.float64, **options)


def test_counts_have_probabilities():
    made = D.Poisson(double(0.5, 3.0))
    values = torch.arange(60.0, dtype=torch.float64).reshape(-1, 1)
    chances = made.log_prob(values).exp()
    assert torch.allclose(chances.sum(0), double(1.0, 1.0))
    assert torch.allclose((chances * values).sum(0), made.mean) and made.mode.tolist() == [0.0, 3.0]
    assert torch.allclose((chances * values**2).sum(0) - made.mean**2, made.variance)
    torch.manual_seed(0)
    drawn = made.sample((20000,))
    assert torch.allclose(drawn.mean(0), made.mean, atol=0.05) and drawn.dtype is torch.float64
    assert (
        repr(D.Poisson(2.0)) == "Poisson(rate: 2.0)"
        and D.Poisson(0.0).log_prob(torch.tensor(0.0)).item() == 0.0
    )


def test_gradients_pass_the_probabilities_of_counts():
    rate = double(2.0, requires_grad=True)
    D.Poisson(rate).log_prob(double(3.0)).sum().backward()
    assert rate.grad.item() == pytest.approx(3 / 2 - 1)
    with raises(ValueError, "Expected value argument (Tensor of shape ()) to be within the support"):
        D.Poisson(2.0).log_prob(torch.tensor(1.5))


def test_the_divergence_of_counts_is_the_sum_over_all():
    p, q = D.Poisson(double(2.0)), D.Poisson(double(3.0))
    values = torch.arange(60.0, dtype=torch.float64)
    expected = (p.log_prob(values).exp() * (p.log_prob(values) - q.log_prob(values))).sum()
    assert D.kl_divergence(p, q).item() == pytest.approx(expected.item())


@pytest.mark.parametrize(
    "make", [lambda: D.StudentT(double(3.0), 0.5, 2.0), lambda: D.HalfCauchy(double(0.7))]
)
def test_densities_add_up_to_one(make):
    made = make()
    # From the middle outwards in steps that grow, since the tails are long.
    far = torch.linspace(-12, 12, 200001, dtype=torch.float64).exp()
    x = far if isinstance(made, D.HalfCauchy) else torch.cat([-far.flip(0), far]) + 0.5
    density = made.log_prob(x).exp()
    assert float(torch.trapezoid(density, x)) == pytest.approx(1, abs=1e-4)
    entropy = -float(torch.trapezoid(density * density.log(), x))
    assert made.entropy().item() == pytest.approx(entropy, abs=2e-3)


def test_where_there_is_no_mean_there_is_no_number():
    made = D.StudentT(double(0.5, 1.5, 4.0), 1.0, 2.0)
    assert made.mean.isnan().tolist() == [True, False, False] and made.mean[2] == 1.0
    assert made.variance.isnan().tolist() == [True, False, False]
    assert made.variance[1:].tolist() == [math.inf, 8.0] and made.mode.tolist() == [1.0] * 3
    half = D.HalfCauchy(double(0.7))
    assert half.mean.tolist() == half.variance.tolist() == [math.inf] and half.mode.tolist() == [0.0]
    assert repr(D.HalfCauchy(1.0)) == "HalfCauchy()"
    assert repr(D.StudentT(2.0)) == "StudentT(df: 2.0, loc: 0.0, scale: 1.0)"


def test_half_of_a_distribution_is_on_one_side():
    made = D.HalfCauchy(double(0.7))
    assert made.cdf(double(0.7)).item() == pytest.approx(0.5) and made.icdf(
        double(0.5)
    ).item() == pytest.approx(0.7)
    free = D.HalfCauchy(double(0.7), validate_args=False)
    assert free.log_prob(double(-1.0)).item() == -math.inf
    torch.manual_seed(0)
    drawn = made.expand((2,)).sample((5000,))
    assert drawn.shape == (5000, 2) and bool((drawn >= 0).all())
    assert drawn.median().item() == pytest.approx(0.7, abs=0.05)


def test_gradients_pass_samples():
    torch.manual_seed(0)
    df, loc, scale = (double(value, requires_grad=True) for value in (5.0, 0.5, 2.0))
    made = D.StudentT(df, loc, scale)
    drawn = made.rsample((4000,))
    assert drawn.mean().item() == pytest.approx(0.5, abs=0.15)
    assert drawn.var().item() == pytest.approx(made.variance.item(), abs=1.2)
    drawn.mean().backward()
    assert loc.grad.item() == pytest.approx(1.0) and df.grad is not None and df.grad.isfinite().all()
    assert scale.grad.item() == pytest.approx((drawn.mean().item() - 0.5) / 2)
    assert made.expand((3, 1)).sample().shape == (3, 1)


@pytest.mark.parametrize("half", [D.HalfNormal, D.HalfCauchy])
def test_magnitudes_are_not_negative_for_the_probability_of_less_either(half):
    with pytest.raises(ValueError, match="to be within the support"):
        half(1.0).cdf(torch.tensor(-1.0))
    assert half(1.0, validate_args=False).cdf(torch.tensor(0.0)).item() == 0
