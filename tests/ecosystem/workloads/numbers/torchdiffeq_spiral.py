"""A differential equation of which a matrix is learnt, through the solver and by the adjoint."""

import torch
from torchdiffeq import odeint, odeint_adjoint


class Spiral(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.matrix = torch.nn.Parameter(torch.tensor([[-0.1, 2.0], [-2.0, -0.1]]))

    def forward(self, t, y):
        return y**3 @ self.matrix


def work():
    found = {}
    times = torch.linspace(0.0, 1.0, 6)
    for name, solve, method in (
        ("through", odeint, "dopri5"),
        ("adjoint", odeint_adjoint, "dopri5"),
        ("fixed", odeint, "rk4"),
    ):
        rule = Spiral()
        path = solve(rule, torch.tensor([[1.5, 0.2]]), times, method=method)
        path[-1].sum().backward()
        found[name] = [*path[-1].flatten().tolist(), *rule.matrix.grad.flatten().tolist()]
    return found
