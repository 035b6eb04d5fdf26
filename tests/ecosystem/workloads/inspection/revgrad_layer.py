"""A layer that turns gradients around."""

import torch
from pytorch_revgrad import RevGrad
from torch import nn
from torch.nn import functional as F


def work():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3), RevGrad(alpha=0.5))
    F.cross_entropy(model(torch.randn(16, 6)), torch.randint(0, 3, (16,))).backward()
    return [parameter.grad for parameter in model.parameters()]
