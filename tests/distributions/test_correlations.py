"""Triangles of correlation matrices."""

import pytest
import rushlight as torch
from support import raises

D = torch.distributions


def test_samples_are_triangles_of_correlations():
    made = D.LKJCholesky(3, torch.tensor([0.5, 2.0]))
    samples = made.sample((2000,))
    assert samples.shape == (2000, 2, 3, 3) and D.constraints.corr_cholesky.check(samples).all()
    correlation = (samples @ samples.mT)[..., 0, 1]
    # As a beta distribution between minus one and one, of both parameters eta + (n - 2)/2.
    variance = 1 / (2 * (torch.tensor([0.5, 2.0]) + 0.5) + 1)
    assert correlation.mean(0).abs().max() < 0.08
    assert correlation.var(0).tolist() == pytest.approx(variance.tolist(), rel=0.15)


def test_the_density():
    triangle = torch.tensor([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]])
    found = D.LKJCholesky(3, torch.tensor([0.5, 2.0])).log_prob(triangle)
    assert found.tolist() == pytest.approx([-2.3078806400299072, -1.731200933456421], rel=1e-5)
    assert D.LKJCholesky(3, 2.0).expand((4,)).log_prob(triangle).shape == (4,)


def test_there_are_two_variables_at_least():
    with raises(ValueError, "Expected dim to be an integer greater than or equal to 2. Found dim=1."):
        D.LKJCholesky(1)
