"""A masked autoregressive flow of nflows."""

import torch
from nflows.distributions import StandardNormal
from nflows.flows import Flow
from nflows.transforms import CompositeTransform, MaskedAffineAutoregressiveTransform, RandomPermutation


def work():
    torch.manual_seed(0)
    steps = [RandomPermutation(3), MaskedAffineAutoregressiveTransform(features=3, hidden_features=8)]
    flow = Flow(CompositeTransform(steps), StandardNormal([3]))
    data = torch.randn(16, 3)
    loss = -flow.log_prob(data).mean()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(flow.parameters(), 1.0)
    return {"loss": loss, "norm": norm, "drawn": flow.sample(2)}
