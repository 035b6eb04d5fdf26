"""A law of motion is learned from where something was: through the steps of a solver."""

import rushlight as torch
from drawing import GREY, ORANGE, Plot, steps
from rushlight import nn

torch.manual_seed(0)
TRUE = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
START, STEP = torch.tensor([[2.0, 0.0]]), 0.1


def solve(law, state, count):
    """Follow a law of motion by steps of Runge and Kutta."""
    states = [state]
    for _ in range(count):
        a = law(state)
        b = law(state + STEP / 2 * a)
        c = law(state + STEP / 2 * b)
        d = law(state + STEP * c)
        state = state + STEP / 6 * (a + 2 * b + 2 * c + d)
        states.append(state)
    return torch.stack(states)


with torch.no_grad():
    seen = solve(lambda y: y**3 @ TRUE, START, 100)
network = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
for _ in steps(800):
    begin = torch.randint(0, 90, (32,))
    expected = torch.stack([seen[begin + ahead, 0] for ahead in range(11)])
    found = solve(lambda y: network(y**3), expected[0], 10)
    loss = (found - expected).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

plot = Plot((-2.2, 2.2), (-2.2, 2.2), "Neural ODE: the path seen, and followed")
plot.line(*seen[:, 0].T.tolist(), GREY, 5)
with torch.no_grad():
    plot.line(*solve(lambda y: network(y**3), START, 100)[:, 0].T.tolist(), ORANGE)
print(f"loss {loss.item():.4f}")
plot.save("neural_ode")
