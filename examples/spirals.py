"""A small network learns to tell two spirals apart, and what it has learnt is painted."""

from __future__ import annotations

import math
from pathlib import Path

import rushlight as torch
from picture import Picture, colour
from rushlight import nn
from terminal import COLOURS, ProgressBar, half_block

PER_ARM = 150
STEPS = 800
TURNS = 1.75
SOFTNESS = 8.0  # the picture shows the logits divided by this, so that "sure" and "very sure" differ
EXTENT = 1.15  # the picture shows the square from -EXTENT to EXTENT
HIDDEN = 40

OUTPUT = Path(__file__).resolve().parent / "output" / "spirals.png"


def two_spirals() -> tuple[torch.Tensor, torch.Tensor]:
    """Points of two arms, the second half a turn ahead of the first, and 0 or 1 for the arm."""
    along = torch.linspace(0.12, 1.0, PER_ARM)
    arms = []
    for start in (0.0, math.pi):
        angle = along * (TURNS * 2 * math.pi) + start
        arm = torch.stack([along * torch.cos(angle), along * torch.sin(angle)], dim=1)
        arms.append(arm + 0.02 * torch.randn(PER_ARM, 2))
    labels = torch.cat([torch.zeros(PER_ARM, 1), torch.ones(PER_ARM, 1)])
    return torch.cat(arms), labels


class Adam:
    """The optimiser, written out in tensor operations: a step per parameter, scaled by its own history."""

    def __init__(self, parameters: list[torch.Tensor], rate: float) -> None:
        self.parameters = parameters
        self.rate = rate
        self.means = [torch.zeros_like(parameter) for parameter in parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in parameters]
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        rate = self.rate * math.sqrt(1 - 0.99**self.steps) / (1 - 0.9**self.steps)
        with torch.no_grad():
            for parameter, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
                gradient = parameter.grad
                mean.mul_(0.9).add_(gradient, alpha=0.1)
                square.mul_(0.99).add_(gradient * gradient, alpha=0.01)
                parameter.sub_(rate * mean / (square.sqrt() + 1e-8))
                parameter.grad = None


def train(points: torch.Tensor, labels: torch.Tensor) -> nn.Module:
    model = nn.Sequential(
        nn.Linear(2, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1)
    )
    optimiser = Adam(list(model.parameters()), rate=0.02)
    bar = ProgressBar(STEPS)
    for step in range(1, STEPS + 1):
        logits = model(points * 3)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, labels)
        loss.backward()
        optimiser.step()
        if step % 20 == 0:
            right = ((logits > 0) == (labels > 0.5)).sum().item()
            bar.show(step, f"loss {loss.item():.4f}  right {right / len(labels):4.0%}")
    return model


def surface(model: nn.Module, size: int) -> list[float]:
    """How sure the network is of the second arm, at size × size places, row by row from the top."""
    across = torch.linspace(-EXTENT, EXTENT, size)
    values: list[float] = []
    with torch.no_grad():
        for height in torch.linspace(EXTENT, -EXTENT, size).tolist():
            row = torch.stack([across, torch.full_like(across, height)], dim=1)
            values += torch.sigmoid(model(row * 3) / SOFTNESS).flatten().tolist()
    return values


def paint(model: nn.Module, points: torch.Tensor, labels: torch.Tensor, size: int = 560) -> Path:
    picture = Picture(size, surface(model, size))
    scale = size / (2 * EXTENT)
    for (x, y), label in zip(points.tolist(), labels.flatten().tolist(), strict=True):
        fill = (255, 226, 150) if label else (126, 148, 230)
        picture.dot((x + EXTENT) * scale, (EXTENT - y) * scale, radius=4.2, fill=fill, rim=(22, 18, 38))
    picture.save(OUTPUT)
    return OUTPUT


def preview(model: nn.Module, size: int = 44) -> str:
    """The same picture in characters: coloured half blocks, or plain ones where there is no colour."""
    values = surface(model, size)
    lines = []
    for start in range(0, len(values), 2 * size):
        upper, lower = values[start : start + size], values[start + size : start + 2 * size]
        pairs = zip(upper, lower, strict=True)
        if COLOURS:
            lines.append("".join(half_block(colour(above), colour(below)) for above, below in pairs))
        else:
            lines.append("".join(" ▄▀█"[2 * (above > 0.5) + (below > 0.5)] for above, below in pairs))
    return "\n".join("  " + line for line in lines)
