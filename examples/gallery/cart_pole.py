"""A policy learns to keep a pole upright on a cart: from returns alone, of many carts at once."""

import rushlight as torch
from drawing import Plot, steps
from rushlight import nn

torch.manual_seed(0)
CARTS, TIME = 64, 150
GRAVITY, CART, POLE, LENGTH, PUSH, TICK = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02


def moved(state, force):
    """A tick later, by the equations of the cart and its pole."""
    _, speed, angle, turn = state.unbind(1)
    sine, cosine, mass = angle.sin(), angle.cos(), CART + POLE
    pushed = (force + POLE * LENGTH * turn**2 * sine) / mass
    falling = (GRAVITY * sine - cosine * pushed) / (LENGTH * (4 / 3 - POLE * cosine**2 / mass))
    driven = pushed - POLE * LENGTH * falling * cosine / mass
    changes = torch.stack([speed, driven, turn, falling], 1)
    return state + TICK * changes


policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
lasted = []
for _ in steps(80):
    state = 0.1 * torch.rand(CARTS, 4) - 0.05
    alive, chosen, lives = torch.ones(CARTS), [], []
    for _ in range(TIME):
        choice = torch.distributions.Categorical(logits=policy(state))
        action = choice.sample()
        chosen.append(choice.log_prob(action))
        lives.append(alive)
        with torch.no_grad():
            state = moved(state, PUSH * (2.0 * action - 1.0))
            alive = alive * (state[:, 0].abs() < 2.4) * (state[:, 2].abs() < 0.2)
    lives = torch.stack(lives)
    returns = lives.flip(0).cumsum(0).flip(0)
    better = (returns - returns.mean(1, keepdim=True)) / (returns.std() + 1e-6)
    loss = -(torch.stack(chosen) * better * lives).sum() / lives.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lasted.append(lives.sum(0).mean().item())

plot = Plot((0, len(lasted)), (0, TIME), "Cart and pole: ticks upright, by steps of learning")
plot.line(list(range(len(lasted))), lasted)
print(f"upright for {lasted[-1]:.0f} of {TIME} ticks")
plot.save("cart_pole")
