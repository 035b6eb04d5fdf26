"""A Gaussian process, whose scales are those under which the numbers seen are most likely."""

import math

import rushlight as torch
from drawing import Plot, steps

torch.manual_seed(0)
x = torch.rand(25, dtype=torch.float64) * 6
y = torch.sin(2 * x) + 0.3 * x + 0.15 * torch.randn(25, dtype=torch.float64)
logarithms = torch.zeros(3, dtype=torch.float64, requires_grad=True)  # of length, height and noise
optimizer = torch.optim.Adam([logarithms], lr=0.05)


def kernel(a, b):
    """How much the values at two places are alike."""
    length, height, _ = logarithms.exp()
    return height**2 * torch.exp(-0.5 * ((a[:, None] - b) / length) ** 2)


def factor():
    noise = logarithms[2].exp() ** 2 + 1e-6
    return torch.linalg.cholesky(kernel(x, x) + noise * torch.eye(len(x), dtype=x.dtype))


for _ in steps(300):
    root = factor()
    solved = torch.cholesky_solve(y[:, None], root)
    loss = 0.5 * (y @ solved).sum() + root.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    places = torch.linspace(-0.5, 6.5, 120, dtype=torch.float64)
    root, across = factor(), kernel(x, places)
    mean = (across.T @ torch.cholesky_solve(y[:, None], root)).flatten()
    explained = torch.linalg.solve_triangular(root, across, upper=False).square().sum(0)
    spread = 2 * (logarithms[1].exp() ** 2 - explained).clamp(min=0).sqrt()
plot = Plot((-0.5, 6.5), (-2, 4), "Gaussian process: mean, and two deviations")
plot.band(places.tolist(), (mean - spread).tolist(), (mean + spread).tolist())
plot.line(places.tolist(), mean.tolist())
plot.points(x.tolist(), y.tolist())
print("length, height, noise:", [round(value, 2) for value in logarithms.exp().tolist()])
plot.save("gaussian_process")
