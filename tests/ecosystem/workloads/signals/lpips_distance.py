"""A perceptual distance over an untrained network."""

import lpips
import torch


def work():
    torch.manual_seed(0)
    distance = lpips.LPIPS(net="alex", pretrained=False, pnet_rand=True, verbose=False).eval()
    x, y = torch.rand(1, 3, 64, 64), torch.rand(1, 3, 64, 64, requires_grad=True)
    found = distance(x, y)
    found.backward()
    return {"distance": found, "grad": y.grad.abs().sum()}
