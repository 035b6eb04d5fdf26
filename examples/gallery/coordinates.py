"""An image as a function of its coordinates: a network learns it from the colours of single points."""

import math

import rushlight as torch
from drawing import Plot, steps
from rushlight import nn

torch.manual_seed(0)


def image(points):
    """Rings and a wave, brightest in the middle."""
    x, y = points.unbind(-1)
    rings = torch.cos(12 * (x**2 + y**2).sqrt())
    return (0.5 + 0.3 * rings + 0.2 * torch.sin(8 * x + 3 * y)) * torch.exp(-(x**2) - y**2)


waves = torch.randn(2, 32) * 1.5
network = nn.Sequential(
    nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1), nn.Sigmoid()
)
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)


def learned(points):
    angles = 2 * math.pi * points @ waves
    return network(torch.cat([angles.sin(), angles.cos()], -1)).squeeze(-1)


@torch.compile
def step(points):
    loss = (learned(points) - image(points)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


for _ in steps(1000):
    loss = step(2 * torch.rand(512, 2) - 1)

line = torch.linspace(-1, 1, 64)
grid = torch.cartesian_prod(line, line).view(64, 64, 2)
plot = Plot((0, 1), (0, 1), "An image, learned by its coordinates")
with torch.no_grad():
    plot.image(learned(grid).tolist())
print(f"mean square error {loss.item():.5f}")
plot.save("coordinates")
