"""A stochastic differential equation, solved, and differentiated through."""

import torch
import torchsde


class Walk(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.pull = torch.nn.Parameter(torch.tensor(0.5))

    def f(self, t, y):
        return -self.pull * y

    def g(self, t, y):
        return 0.2 * torch.ones_like(y)


def work():
    torch.manual_seed(0)
    times, start = torch.linspace(0, 1, 5), torch.ones(3, 2)
    noise = torchsde.BrownianInterval(0.0, 1.0, size=(3, 2), entropy=7)
    rule = Walk()
    path = torchsde.sdeint(rule, start, times, bm=noise, method="euler", dt=0.1)
    path[-1].sum().backward()
    return {"path": path[-1], "grad": rule.pull.grad}
