"""Distances of sounds by their spectra."""

import auraloss
import torch


def work():
    torch.manual_seed(0)
    x = torch.randn(1, 1, 2048)
    y = (x * 0.8).requires_grad_()
    whole = auraloss.freq.MultiResolutionSTFTLoss([256, 512], [64, 128], [256, 512])(y, x)
    ratio = auraloss.time.SISDRLoss()(y, x + torch.randn_like(x))
    (whole + ratio).backward()
    return {"whole": whole, "ratio": ratio, "grad": y.grad.abs().sum()}
