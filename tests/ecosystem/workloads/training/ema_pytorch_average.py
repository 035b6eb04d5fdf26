"""A second model that follows the first."""

import torch
from ema_pytorch import EMA


def work():
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 2)
    average = EMA(net, beta=0.9, update_after_step=2, update_every=1)
    for step in range(8):
        with torch.no_grad():
            net.weight.add_(0.1 * step)
        average.update()
    return {"out": average(torch.ones(1, 3)), "weight": average.ema_model.weight}
