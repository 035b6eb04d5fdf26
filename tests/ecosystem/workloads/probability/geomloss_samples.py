"""Distances between samples: of Sinkhorn, of Gauss and of energies, with their gradients."""

import torch
from geomloss import SamplesLoss


def work():
    torch.manual_seed(0)
    x, y = torch.randn(20, 2, requires_grad=True), torch.randn(15, 2)
    found = {}
    for name, options in (
        ("sinkhorn", {"p": 2, "blur": 0.1}),
        ("gaussian", {"blur": 0.5}),
        ("energy", {}),
        ("laplacian", {"blur": 0.5}),
    ):
        loss = SamplesLoss(name, backend="tensorized", **options)(x, y)
        found[name] = [loss, *torch.autograd.grad(loss, x)]
    return found
