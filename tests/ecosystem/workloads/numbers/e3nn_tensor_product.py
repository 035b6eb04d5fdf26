"""Spherical harmonics and products that turn with space."""

import torch
from e3nn import o3


def work():
    torch.manual_seed(0)
    vectors = torch.randn(4, 3, requires_grad=True)
    harmonics = o3.spherical_harmonics([0, 1, 2], vectors, normalize=True)
    product = o3.FullyConnectedTensorProduct("1x0e + 1x1o + 1x2e", "1x1o", "2x0e + 1x1o")
    out = product(harmonics, vectors)
    out.pow(2).sum().backward()
    turn = o3.rand_matrix()
    turned = o3.spherical_harmonics(2, vectors @ turn.T, normalize=True)
    matrix = o3.Irreps("1x2e").D_from_matrix(turn)
    apart = (turned - o3.spherical_harmonics(2, vectors, normalize=True) @ matrix.T).abs().max()
    return {"out": out, "grad": vectors.grad, "turns": bool(apart < 1e-4)}
