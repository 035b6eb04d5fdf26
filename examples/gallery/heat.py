"""The heat equation by a network: it is trained to obey the equation, and never sees a solution."""

import math

import rushlight as torch
from drawing import GREY, ORANGE, Plot, steps
from rushlight import nn

torch.manual_seed(0)
network = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
DIFFUSIVITY = 0.1


def temperature(x, t):
    """A sine at first, and nothing at both ends: only what is between is learned."""
    return torch.sin(math.pi * x) + t * x * (1 - x) * network(torch.cat([x, t], 1))


for _ in steps(1000):
    x, t = (torch.rand(256, 1, requires_grad=True) for _ in range(2))
    u = temperature(x, t)
    by_x, by_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    (by_xx,) = torch.autograd.grad(by_x.sum(), x, create_graph=True)
    loss = (by_t - DIFFUSIVITY * by_xx).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

plot = Plot((0, 1), (0, 1.05), "Heat equation: learned, over the solution")
x = torch.linspace(0, 1, 60).unsqueeze(1)
worst = 0.0
for time in (0.0, 0.25, 0.5, 1.0):
    exact = torch.sin(math.pi * x) * math.exp(-DIFFUSIVITY * math.pi**2 * time)
    found = temperature(x, torch.full_like(x, time)).detach()
    worst = max(worst, (found - exact).abs().max().item())
    plot.line(x.flatten().tolist(), exact.flatten().tolist(), GREY, 5)
    plot.line(x.flatten().tolist(), found.flatten().tolist(), ORANGE)
print(f"largest error {worst:.4f}")
plot.save("heat")
