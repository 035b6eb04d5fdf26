"""A neural spline flow, fitted to two moons."""

import torch
import zuko


def work():
    torch.manual_seed(0)
    angle = torch.linspace(0, 3.14, 32)
    data = torch.stack([angle.cos(), angle.sin()], -1)
    flow = zuko.flows.NSF(features=2, transforms=2, hidden_features=(16, 16))
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = -flow().log_prob(data).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "drawn": list(flow().sample((4,)).shape)}
