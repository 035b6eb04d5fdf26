"""Hamiltonian Monte Carlo: samples of a bent density, by many chains that are mapped at once."""

import rushlight as torch
from drawing import GREY, Plot, steps
from rushlight.func import grad, vmap

torch.manual_seed(0)
CHAINS, LEAPS, LEAP = 40, 20, 0.08


def energy(place):
    """Minus the logarithm of the density: a valley along a parabola."""
    x, y = place
    return x**2 / 2 + 2 * (y - x**2 + 1) ** 2


slope, energies = vmap(grad(energy)), vmap(energy)
places, kept, taken = torch.randn(CHAINS, 2), [], []
for _ in steps(60):
    speed = torch.randn_like(places)
    before = energies(places) + speed.square().sum(1) / 2
    there, speed = places, speed - LEAP / 2 * slope(places)
    for leap in range(LEAPS):
        there = there + LEAP * speed
        speed = speed - LEAP * slope(there) * (0.5 if leap == LEAPS - 1 else 1.0)
    after = energies(there) + speed.square().sum(1) / 2
    accepted = torch.rand(CHAINS) < (before - after).exp()
    places = torch.where(accepted[:, None], there, places)
    kept.append(places)
    taken.append(accepted.float().mean().item())

samples = torch.cat(kept[len(kept) // 4 :])
plot = Plot((-3, 3), (-2.5, 6), "Samples of a bent density")
curve = torch.linspace(-3, 3, 60)
plot.line(curve.tolist(), (curve**2 - 1).tolist(), GREY)
plot.points(*samples.T.tolist(), radius=1.5)
print(f"taken {sum(taken) / len(taken):.2f}, variance of the first {samples[:, 0].var().item():.2f} (1)")
plot.save("sampling")
