"""Descent on a sphere, on orthogonal matrices and in a ball of hyperbolic space."""

import geoopt
import torch


def work():
    torch.manual_seed(0)
    found = {}
    for name, manifold, start in (
        ("sphere", geoopt.Sphere(), torch.randn(4)),
        ("stiefel", geoopt.Stiefel(), torch.linalg.qr(torch.randn(4, 2))[0]),
        ("ball", geoopt.PoincareBall(), torch.randn(4) * 0.1),
    ):
        point = geoopt.ManifoldParameter(manifold.projx(start), manifold=manifold)
        optimizer = geoopt.optim.RiemannianAdam([point], lr=0.05)
        for _ in range(10):
            optimizer.zero_grad()
            loss = (point - 0.3).square().sum()
            loss.backward()
            optimizer.step()
        found[name] = [loss.item(), *point.flatten().tolist()]
    return found
