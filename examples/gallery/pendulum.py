"""A pendulum is swung up: its physics is differentiated, and the pushes follow the gradient."""

import math

import rushlight as torch
from drawing import BLUE, ORANGE, Plot, steps

torch.manual_seed(0)
TICKS, TICK, MOST = 80, 0.05, 4.0
wishes = (0.1 * torch.randn(TICKS)).requires_grad_()
optimizer = torch.optim.Adam([wishes], lr=0.05)


def swing(pushes):
    """The angles from hanging down, at rest; upright is π."""
    angle, turn, angles, turns = torch.zeros(()), torch.zeros(()), [], []
    for push in pushes:
        turn = turn + TICK * (push - 9.8 * angle.sin() - 0.1 * turn)
        angle = angle + TICK * turn
        angles.append(angle)
        turns.append(turn)
    return torch.stack(angles), torch.stack(turns)


for _ in steps(400):
    pushes = MOST * torch.tanh(wishes)
    angles, turns = swing(pushes)
    late = slice(-10, None)
    missed = (1 + angles[late].cos()).mean() * 10 + turns[late].square().mean()
    loss = missed + 0.002 * pushes.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

times = [TICK * tick for tick in range(TICKS)]
plot = Plot((0, times[-1]), (-2 * math.pi, 2 * math.pi), "Pendulum: angle, and the pushes that swing it up")
plot.line(times, angles.tolist(), BLUE)
plot.line(times, pushes.tolist(), ORANGE, 1)
for upright in (-math.pi, math.pi):
    plot.line([0, times[-1]], [upright] * 2, "#c0c0c0", 1)
print(f"at the end {angles[-1].item() / math.pi:.2f} π")
plot.save("pendulum")
