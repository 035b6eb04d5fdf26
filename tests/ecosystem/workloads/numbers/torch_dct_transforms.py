"""Cosine transforms of one dimension and of two, there and back, with gradients."""

import torch
import torch_dct


def work():
    torch.manual_seed(0)
    x = torch.randn(3, 8, requires_grad=True)
    once, twice = torch_dct.dct(x), torch_dct.dct_2d(x, norm="ortho")
    (once.square().sum() + twice.abs().sum()).backward()
    return [once, twice, torch_dct.idct(once), torch_dct.dct1(x), torch_dct.LinearDCT(8, "dct")(x), x.grad]
