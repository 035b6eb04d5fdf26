"""Optimal transport: exact and with entropy, with gradients of weights and costs."""

import ot
import torch


def work():
    torch.manual_seed(0)
    weights = torch.rand(5, dtype=torch.double)
    weights = (weights / weights.sum()).requires_grad_()
    others = torch.full((4,), 0.25, dtype=torch.double)
    costs = torch.rand(5, 4, dtype=torch.double, requires_grad=True)
    exact = ot.emd2(weights, others, costs)
    exact.backward()
    return {
        "exact": exact,
        "of weights": weights.grad,
        "of costs": costs.grad,
        "plan": ot.sinkhorn(weights, others, costs, 0.5),
        "entropic": ot.sinkhorn2(weights, others, costs, 0.1),
        "barycenter": ot.bregman.barycenter(
            torch.stack([others, others.roll(1)], 1), costs[:4].detach(), 0.5
        ),
    }
