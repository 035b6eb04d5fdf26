"""An average of parameters that follows training."""

import torch
from torch_ema import ExponentialMovingAverage


def work():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    average = ExponentialMovingAverage(model.parameters(), decay=0.9)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(8, 3)
    for _ in range(5):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        average.update()
    with average.average_parameters():
        averaged = model.weight.clone()
    return {"weight": model.weight, "averaged": averaged}
