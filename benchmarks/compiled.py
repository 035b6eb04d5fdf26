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


def chain(turns: int, curved: bool = False) -> Step:
    """Cheap operations on many numbers, two a turn."""
    start = torch.randn(1_000_000)

    def step() -> object:
        x = start.detach().requires_grad_()
        y = x
        for _ in range(turns):
            y = y * 1.01 + 0.01
        if curved:
            y = torch.tanh(y)
        y.sum().backward()
        return x.grad

    return step


def memory() -> Step:
    """A recurrent layer with memories."""
    model, x = nn.LSTM(16, 32), torch.randn(30, 8, 16)
    return training(model, lambda: model(x)[0].square().mean(), torch.optim.Adam(model.parameters()))


def gated() -> Step:
    """A recurrent layer with gates."""
    model, x = nn.GRU(16, 32), torch.randn(30, 8, 16)
    return training(model, lambda: model(x)[0].square().mean(), torch.optim.Adam(model.parameters()))


def process() -> Step:
    """How likely 60 points are under a Gaussian process."""
    x, y = torch.randn(60, 2).double(), torch.randn(60).double()
    model = nn.ParameterList([torch.zeros(2).double(), torch.zeros(()).double()])
    noise = torch.eye(60).double()

    def loss() -> torch.Tensor:
        scaled = x / model[0].exp()
        squares = (scaled[:, None] - scaled[None]).square().sum(-1)
        factor = torch.linalg.cholesky(torch.exp(-0.5 * squares) + model[1].exp() * noise)
        weights = torch.cholesky_solve(y[:, None], factor)
        return 0.5 * (y @ weights[:, 0]) + factor.diagonal().log().sum()

    return training(model, loss, torch.optim.Adam(model.parameters()))


def transformer() -> Step:
    """A layer of a transformer."""
    model, x = nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True), torch.randn(8, 32, 64)
    return training(model, lambda: model(x).square().mean(), torch.optim.AdamW(model.parameters()))


def residual() -> Step:
    """Two convolutions of 32 channels, normalised, beside what goes by."""
    layers = [nn.Conv2d(32, 32, 3, padding=1, bias=False) for _ in range(2)]
    norms = [nn.BatchNorm2d(32) for _ in range(2)]
    model, x = nn.ModuleList([*layers, *norms]), torch.randn(4, 32, 16, 16)

    def loss() -> torch.Tensor:
        inner = torch.relu(norms[0](layers[0](x)))
        return torch.relu(norms[1](layers[1](inner)) + x).square().mean()

    return training(model, loss, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9))


def scan() -> Step:
    """A thousand tiny steps."""
    start = torch.randn(4)

    def step() -> object:
        y = start
        for _ in range(1000):
            y = y * 0.99 + 0.01
        return y

    return step


STEPS = {
    "mlp 2-16-1, Adam": tiny,
    "logistic regression": logistic,
    "gradient of Rosenbrock(10)": rosenbrock,
    "gradient of tanh(Wx + b), 4×4": gradient,
    "two derivatives (PINN), Adam": equation,
    "autoencoder (VAE), Adam": autoencoder,
    "neural differential equation": differential,
    "recurrent layer (LSTM), Adam": memory,
    "recurrent layer (GRU), Adam": gated,
    "Gaussian process, Adam": process,
    "transformer layer, AdamW": transformer,
    "residual block, SGD": residual,
    "1,000 turns of a scan": scan,
    "40 cheap operations on 1e6 numbers": partial(chain, 20),
    "100 cheap operations on 1e6 numbers": partial(chain, 50),
    "100 cheap operations and tanh on 1e6 numbers": partial(chain, 50, curved=True),
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
