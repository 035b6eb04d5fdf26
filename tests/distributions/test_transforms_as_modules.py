"""Transforms of others that are modules as well, with parameters that are learned."""

import rushlight as torch
from rushlight.distributions import Normal, TransformedDistribution, constraints
from rushlight.distributions.transforms import Transform


class Scaled(Transform, torch.nn.Module):
    domain = codomain = constraints.real
    bijective = True

    def __init__(self):
        super().__init__(cache_size=1)
        self.scale = torch.nn.Parameter(torch.tensor(2.0))

    def __hash__(self):
        return torch.nn.Module.__hash__(self)

    def _call(self, x):
        return x * self.scale

    def _inverse(self, y):
        return y / self.scale

    def log_abs_det_jacobian(self, x, y):
        return self.scale.abs().log().expand(x.shape)


def test_a_transform_has_parameters():
    transform = Scaled()
    assert [name for name, _ in transform.named_parameters()] == ["scale"]
    found = TransformedDistribution(Normal(0.0, 1.0), transform).log_prob(torch.tensor(1.0))
    found.backward()
    assert transform.scale.grad.item() == torch.tensor(1 / 8 - 1 / 2).item()
