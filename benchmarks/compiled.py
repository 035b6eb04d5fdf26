"""How long whole steps take as they are written, and compiled: `PY benchmarks/compiled.py`.

Parts of names choose among them. Each time is the least of calls in alternating rounds, on one thread."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from functools import partial

import rushlight as torch

nn, functional = torch.nn, torch.nn.functional

ROUNDS = 20
MANY = 20
"""Steps that are done in one call."""
SECONDS = 0.02
"""How long a round of one step is."""

Step = Callable[[], object]


def training(model: nn.Module, loss: Callable[[], torch.Tensor], optimizer: torch.optim.Optimizer) -> Step:
    """A step that trains."""

    def step() -> object:
        optimizer.zero_grad()
        found = loss()
        found.backward()
        optimizer.step()
        return found

    return step


def perceptron(sizes: list[int]) -> nn.Sequential:
    """Linear layers with tanh between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def tiny() -> Step:
    model, x, y = perceptron([2, 16, 1]), torch.randn(64, 2), torch.randn(64, 1)
    return training(model, lambda: functional.mse_loss(model(x), y), torch.optim.Adam(model.parameters()))


def logistic() -> Step:
    model, x, y = nn.Linear(5, 1), torch.randn(100, 5), (torch.rand(100, 1) > 0.5).float()
    loss = functional.binary_cross_entropy_with_logits
    return training(model, lambda: loss(model(x), y), torch.optim.SGD(model.parameters(), lr=0.1))


def rosenbrock() -> Step:
    start = torch.zeros(10)

    def step() -> object:
        x = start.detach().requires_grad_()
        (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum().backward()
        return x.grad

    return step


def gradient() -> Step:
    weight, bias, start = torch.randn(4, 4), torch.randn(4), torch.randn(4)

    def step() -> object:
        x = start.detach().requires_grad_()
        return torch.autograd.grad(torch.tanh(weight @ x + bias).sum(), x)[0]

    return step


def equation() -> Step:
    """Two derivatives of a network in its loss."""
    model, points = perceptron([1, 32, 32, 1]), torch.linspace(0, 1, 64).reshape(-1, 1)

    def loss() -> torch.Tensor:
        x = points.detach().requires_grad_()
        u = model(x)
        (first,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
        return ((second + u) ** 2).mean()

    return training(model, loss, torch.optim.Adam(model.parameters()))


def autoencoder() -> Step:
    encoder, decoder, x = perceptron([64, 32, 8]), perceptron([4, 32, 64]), torch.rand(32, 64)

    def loss() -> torch.Tensor:
        mean, spread = encoder(x).chunk(2, 1)
        y = decoder(mean + torch.randn_like(mean) * torch.exp(0.5 * spread))
        far = functional.binary_cross_entropy_with_logits(y, x, reduction="sum")
        return far - 0.5 * torch.sum(1 + spread - mean**2 - spread.exp())

    both = nn.ModuleList([encoder, decoder])
    return training(both, loss, torch.optim.Adam(both.parameters()))


def differential() -> Step:
    """A differential equation: 20 steps with 80 calls of a network."""
    model, start = perceptron([2, 16, 2]), torch.randn(16, 2)

    def loss() -> torch.Tensor:
        y, h = start, 0.05
        for _ in range(20):
            a = model(y)
            b = model(y + h / 2 * a)
            c = model(y + h / 2 * b)
            d = model(y + h * c)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
        return (y**2).mean()

    return training(model, loss, torch.optim.Adam(model.parameters()))


def chain() -> Step:
    start = torch.randn(1_000_000)

    def step() -> object:
        x = start.detach().requires_grad_()
        y = x
        for _ in range(20):
            y = y * 1.01 + 0.01
        y.sum().backward()
        return x.grad

    return step


STEPS = {
    "mlp 2-16-1, Adam": tiny,
    "logistic regression": logistic,
    "gradient of Rosenbrock(10)": rosenbrock,
    "gradient of tanh(Wx + b), 4×4": gradient,
    "two derivatives (PINN), Adam": equation,
    "autoencoder (VAE), Adam": autoencoder,
    "neural differential equation": differential,
    "40 cheap operations on 1e6 numbers": chain,
}


def least(step: Step, before: float) -> float:
    """Return the least time of a call in a round, if that is less than before."""
    end = time.perf_counter() + SECONDS
    while (start := time.perf_counter()) < end:
        step()
        before = min(before, time.perf_counter() - start)
    return before


def main() -> None:
    torch.set_num_threads(1)
    only = sys.argv[1:]
    print(
        "| step | as written | compiled | of many a call | times as fast | operations |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |"
    )
    for name, make in STEPS.items():
        if only and not any(part in name for part in only):
            continue
        torch.manual_seed(0)
        written, compiled = make(), torch.compile(make())
        for _ in range(6):
            compiled()
        many = partial(torch.compiler.repeat, compiled, MANY)
        times = [float("inf")] * 3
        for _ in range(ROUNDS):
            times = [
                least(step, before) for step, before in zip((written, compiled, many), times, strict=True)
            ]
        times[2] /= MANY
        first, second, third = (f"{time * 1e6:,.1f} µs" for time in times)
        count = (
            len(compiled.programs[0].operations())
            if compiled.programs
            else f"not recorded: {compiled.reason}"
        )
        print(f"| {name} | {first} | {second} | {third} | {times[0] / times[1]:.1f} | {count} |", flush=True)


if __name__ == "__main__":
    main()
