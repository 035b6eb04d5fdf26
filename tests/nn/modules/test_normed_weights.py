"""Weights as a direction times a length, and over their greatest singular value."""

import pytest
import rushlight as torch
from support import raises

U = torch.nn.utils

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


def test_a_weight_is_a_direction_times_a_length():
    layer = torch.nn.Linear(2, 3)
    weight = layer.weight.detach().clone()
    assert U.weight_norm(layer) is layer
    assert sorted(name for name, _ in layer.named_parameters()) == ["bias", "weight_g", "weight_v"]
    assert torch.allclose(layer.weight, weight)
    with torch.no_grad():
        layer.weight_g.mul_(2)
    layer(torch.ones(1, 2)).sum().backward()
    assert torch.allclose(layer.weight, 2 * weight)
    assert layer.weight_g.grad.shape == (3, 1)
    # The direction has no length: no gradient goes along it.
    assert torch.allclose((layer.weight_v.grad * layer.weight_v).sum(1), torch.zeros(3), atol=1e-5)
    U.remove_weight_norm(layer)
    assert torch.allclose(layer.weight, 2 * weight)
    with raises(ValueError, "weight_norm of 'weight' not found in Linear("):
        U.remove_weight_norm(layer)


def test_the_greatest_singular_value_becomes_one():
    torch.manual_seed(0)
    layer = U.spectral_norm(torch.nn.Linear(3, 4), n_power_iterations=50)
    layer(torch.ones(1, 3)).sum().backward()
    assert float(torch.linalg.svdvals(layer.weight.detach())[0]) == pytest.approx(1, abs=1e-4)
    assert layer.weight_orig.grad is not None
    with raises(RuntimeError, "Cannot register two spectral_norm hooks on the same parameter weight"):
        U.spectral_norm(layer)
    with raises(ValueError, "Expected n_power_iterations to be positive, but got n_power_iterations=0"):
        U.spectral_norm(torch.nn.Linear(2, 2), n_power_iterations=0)


@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated")
def test_that_weights_without_a_size_are_refused():
    layer = torch.nn.LazyLinear(7)
    with raises(ValueError, "The module passed to `WeightNorm` can't have uninitialized parameters."):
        U.weight_norm(layer)
    with raises(ValueError, "The module passed to `SpectralNorm` can't have uninitialized parameters."):
        U.spectral_norm(layer)
