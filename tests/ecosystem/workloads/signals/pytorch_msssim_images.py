"""Structural similarity of images at one scale and at several, with gradients."""

import torch
from pytorch_msssim import ms_ssim, ssim


def work():
    torch.manual_seed(0)
    x = torch.rand(1, 1, 176, 176)
    y = (x * 0.9 + 0.02).requires_grad_()
    found = ssim(x, y, data_range=1.0)
    found.backward()
    return {"ssim": found, "grad": y.grad.abs().sum(), "ms_ssim": ms_ssim(x, y, data_range=1.0)}
