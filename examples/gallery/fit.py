"""A curve is fitted by SciPy, which gets gradients and Hessians; the Hessian says how sure the fit is."""

import rushlight as torch
from drawing import Plot, steps
from rushlight.func import hessian

torch.manual_seed(0)
NOISE = 0.1
x = torch.linspace(0, 6, 50, dtype=torch.float64)
TRUE = {"height": 2.0, "fall": 0.4, "speed": 3.0}


def curve(values, x):
    """A wave that dies away."""
    return values["height"] * torch.exp(-values["fall"] * x) * torch.cos(values["speed"] * x)


y = curve(TRUE, x) + NOISE * torch.randn(50, dtype=torch.float64)


def misfit(values):
    return ((curve(values, x) - y) ** 2).sum() / (2 * NOISE**2)


starts = [{"height": 1.0, "fall": 0.2, "speed": 2.6 + 0.1 * number} for number in range(8)]
best = None
for number in steps(len(starts)):
    start = {name: torch.tensor(value, dtype=torch.float64) for name, value in starts[number].items()}
    found = torch.optimize.minimize(misfit, start, method="trust-exact")
    best = found if best is None or found.fun < best.fun else best

names = list(TRUE)
flat = torch.stack([best.x[name] for name in names])
certainty = hessian(lambda flat: misfit(dict(zip(names, flat, strict=True))))(flat)
deviations = torch.linalg.inv(certainty).diagonal().clamp(min=0).sqrt()
for name, value, deviation in zip(names, flat.tolist(), deviations.tolist(), strict=True):
    print(f"{name:>7} {value:.3f} ± {deviation:.3f}   ({TRUE[name]})")
plot = Plot((0, 6), (-2.2, 2.4), "A wave that dies away, fitted")
plot.points(x.tolist(), y.tolist())
plot.line(x.tolist(), curve(best.x, x).tolist())
plot.save("fit")
