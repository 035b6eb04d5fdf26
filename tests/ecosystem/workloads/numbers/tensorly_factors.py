"""Decompositions of a tensor with gradients through their factors."""

import tensorly
import torch
from tensorly.decomposition import parafac, tucker


def work():
    torch.manual_seed(0)
    tensorly.set_backend("pytorch")
    x = torch.randn(4, 5, 6, dtype=torch.float64, requires_grad=True)
    core, factors = tucker(x.detach(), rank=[2, 2, 2], init="svd")
    weights, parts = parafac(x.detach(), rank=2, init="svd", n_iter_max=20)
    apart = (tensorly.cp_to_tensor((weights, parts)) - x).square().sum()
    apart.backward()
    return {
        "core": core.square().sum(),
        "shapes": [list(f.shape) for f in factors],
        "apart": apart,
        "grad": x.grad.abs().sum(),
    }
