"""Whole steps in torch's words: each is made for the library that it is to run in."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

Step = Callable[[], object]

MANY = 20
"""Steps that are done in one call, where a library can."""


def training(model: Any, loss: Callable[[], Any], optimizer: Any) -> Step:
    """A step that trains."""

    def step() -> object:
        optimizer.zero_grad()
        found = loss()
        found.backward()
        optimizer.step()
        return found

    return step


def perceptron(torch: Any, sizes: list[int]) -> Any:
    """Linear layers with tanh between them."""
    layers: list[Any] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


def adam(torch: Any, model: Any, loss: Callable[[], Any]) -> Step:
    return training(model, loss, torch.optim.Adam(model.parameters()))


def tiny(torch: Any) -> Step:
    model, x, y = perceptron(torch, [2, 16, 1]), torch.randn(64, 2), torch.randn(64, 1)
    return adam(torch, model, lambda: torch.nn.functional.mse_loss(model(x), y))


def logistic(torch: Any) -> Step:
    model, x, y = torch.nn.Linear(5, 1), torch.randn(100, 5), (torch.rand(100, 1) > 0.5).float()
    loss = torch.nn.functional.binary_cross_entropy_with_logits
    return training(model, lambda: loss(model(x), y), torch.optim.SGD(model.parameters(), lr=0.1))


def rosenbrock(torch: Any) -> Step:
    start = torch.zeros(10)

    def step() -> object:
        x = start.detach().requires_grad_()
        (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum().backward()
        return x.grad

    return step


def gradient(torch: Any) -> Step:
    weight, bias, start = torch.randn(4, 4), torch.randn(4), torch.randn(4)

    def step() -> object:
        x = start.detach().requires_grad_()
        return torch.autograd.grad(torch.tanh(weight @ x + bias).sum(), x)[0]

    return step


def equation(torch: Any) -> Step:
    """Two derivatives of a network in its loss."""
    model, points = perceptron(torch, [1, 32, 32, 1]), torch.linspace(0, 1, 64).reshape(-1, 1)

    def loss() -> Any:
        x = points.detach().requires_grad_()
        u = model(x)
        (first,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
        return ((second + u) ** 2).mean()

    return adam(torch, model, loss)


def autoencoder(torch: Any) -> Step:
    encoder, decoder, x = perceptron(torch, [64, 32, 8]), perceptron(torch, [4, 32, 64]), torch.rand(32, 64)

    def loss() -> Any:
        mean, spread = encoder(x).chunk(2, 1)
        y = decoder(mean + torch.randn_like(mean) * torch.exp(0.5 * spread))
        far = torch.nn.functional.binary_cross_entropy_with_logits(y, x, reduction="sum")
        return far - 0.5 * torch.sum(1 + spread - mean**2 - spread.exp())

    both = torch.nn.ModuleList([encoder, decoder])
    return adam(torch, both, loss)


def differential(torch: Any) -> Step:
    """A differential equation: 20 steps with 80 calls of a network."""
    model, start = perceptron(torch, [2, 16, 2]), torch.randn(16, 2)

    def loss() -> Any:
        y, h = start, 0.05
        for _ in range(20):
            a = model(y)
            b = model(y + h / 2 * a)
            c = model(y + h / 2 * b)
            d = model(y + h * c)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
        return (y**2).mean()

    return adam(torch, model, loss)


def pendulum(torch: Any) -> Step:
    """Thirty steps of a pendulum, and what moves it."""
    force = torch.zeros(30, requires_grad=True)

    def cost() -> Any:
        angle, speed, found = torch.tensor(3.0), torch.tensor(0.0), 0.0
        for at in range(30):
            speed = speed + 0.05 * (9.8 * torch.sin(angle) + force[at])
            angle = angle + 0.05 * speed
            found = found + angle**2 + 0.1 * speed**2 + 0.001 * force[at] ** 2
        return found

    return training(None, cost, torch.optim.Adam([force], lr=0.1))


def chain(torch: Any, turns: int, curved: bool = False) -> Step:
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


def memory(torch: Any) -> Step:
    """A recurrent layer with memories."""
    model, x = torch.nn.LSTM(16, 32), torch.randn(30, 8, 16)
    return adam(torch, model, lambda: model(x)[0].square().mean())


def gated(torch: Any) -> Step:
    """A recurrent layer with gates."""
    model, x = torch.nn.GRU(16, 32), torch.randn(30, 8, 16)
    return adam(torch, model, lambda: model(x)[0].square().mean())


def process(torch: Any) -> Step:
    """How likely 60 points are under a Gaussian process."""
    x, y = torch.randn(60, 2).double(), torch.randn(60).double()
    model = torch.nn.ParameterList([torch.zeros(2).double(), torch.zeros(()).double()])
    noise = torch.eye(60).double()

    def loss() -> Any:
        scaled = x / model[0].exp()
        squares = (scaled[:, None] - scaled[None]).square().sum(-1)
        factor = torch.linalg.cholesky(torch.exp(-0.5 * squares) + model[1].exp() * noise)
        weights = torch.cholesky_solve(y[:, None], factor)
        return 0.5 * (y @ weights[:, 0]) + factor.diagonal().log().sum()

    return adam(torch, model, loss)


def transformer(torch: Any) -> Step:
    """A layer of a transformer."""
    model, x = torch.nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True), torch.randn(8, 32, 64)
    return training(model, lambda: model(x).square().mean(), torch.optim.AdamW(model.parameters()))


def residual(torch: Any) -> Step:
    """Two convolutions of 32 channels, normalised, beside what goes by."""
    layers = [torch.nn.Conv2d(32, 32, 3, padding=1, bias=False) for _ in range(2)]
    norms = [torch.nn.BatchNorm2d(32) for _ in range(2)]
    model, x = torch.nn.ModuleList([*layers, *norms]), torch.randn(4, 32, 16, 16)

    def loss() -> Any:
        inner = torch.relu(norms[0](layers[0](x)))
        return torch.relu(norms[1](layers[1](inner)) + x).square().mean()

    return training(model, loss, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9))


def digits(torch: Any) -> Step:
    """Two layers over small images."""
    model, x = perceptron(torch, [784, 128, 10]), torch.randn(64, 784)
    classes, loss = torch.randint(0, 10, (64,)), torch.nn.functional.cross_entropy
    rule = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return training(model, lambda: loss(model(x), classes), rule)


def convolutional(torch: Any) -> Step:
    """Convolutions, windows and layers over small images."""
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )
    x, classes = torch.randn(16, 1, 28, 28), torch.randint(0, 10, (16,))
    return adam(torch, model, lambda: nn.functional.cross_entropy(model(x), classes))


def curvature(torch: Any) -> Step:
    """Forty steps that remember how the gradient has changed."""
    x = torch.zeros(10).requires_grad_()
    rule = torch.optim.LBFGS([x], lr=0.1, max_iter=40, tolerance_grad=0, tolerance_change=0, history_size=10)

    def value() -> Any:
        rule.zero_grad()
        found = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        found.backward()
        return found

    def step() -> object:
        x.data.zero_()
        rule.state.clear()
        return rule.step(value)

    return step


def classes(torch: Any) -> Step:
    """A loss of many classes, and its gradient."""
    start, chosen = torch.randn(1024, 1000), torch.randint(0, 1000, (1024,))

    def step() -> object:
        x = start.detach().requires_grad_()
        torch.nn.functional.cross_entropy(x, chosen).backward()
        return x.grad

    return step


def normed(torch: Any) -> Step:
    """Rows that are normalised and bent, and their gradient."""
    start, norm = torch.randn(1000, 1000), torch.nn.LayerNorm(1000)

    def step() -> object:
        x = start.detach().requires_grad_()
        norm.zero_grad()
        torch.nn.functional.gelu(norm(x)).sum().backward()
        return x.grad

    return step


def scan(torch: Any) -> Step:
    """A thousand tiny steps."""
    start = torch.randn(4)

    def step() -> object:
        y = start
        for _ in range(1000):
            y = y * 0.99 + 0.01
        return y

    return step


STEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "mlp 2-16-1, Adam": ("tiny", {}),
    "logistic regression": ("logistic", {}),
    "gradient of Rosenbrock(10)": ("rosenbrock", {}),
    "gradient of tanh(Wx + b), 4×4": ("gradient", {}),
    "two derivatives (PINN), Adam": ("equation", {}),
    "autoencoder (VAE), Adam": ("autoencoder", {}),
    "neural differential equation": ("differential", {}),
    "30 steps of a pendulum, Adam": ("pendulum", {}),
    "mlp 784-128-10, SGD": ("digits", {}),
    "convolutional network, Adam": ("convolutional", {}),
    "recurrent layer (LSTM), Adam": ("memory", {}),
    "recurrent layer (GRU), Adam": ("gated", {}),
    "Gaussian process, Adam": ("process", {}),
    "transformer layer, AdamW": ("transformer", {}),
    "residual block, SGD": ("residual", {}),
    "40 steps of L-BFGS on Rosenbrock(10)": ("curvature", {}),
    "cross entropy of 1,024×1,000": ("classes", {}),
    "layer norm and gelu of 1,000×1,000": ("normed", {}),
    "1,000 turns of a scan": ("scan", {}),
    "40 cheap operations on 1e6 numbers": ("chain", {"turns": 20}),
    "100 cheap operations on 1e6 numbers": ("chain", {"turns": 50}),
    "100 cheap operations and tanh on 1e6 numbers": ("chain", {"turns": 50, "curved": True}),
}
"""The functions that make the steps, here and in `steps_jax.py`."""


def made(module: Any, name: str, *arguments: Any) -> Any:
    """Make the step of that name as a module has it."""
    function, options = STEPS[name]
    return getattr(module, function)(*arguments, **options)
