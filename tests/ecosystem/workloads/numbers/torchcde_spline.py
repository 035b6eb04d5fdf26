"""A controlled differential equation along a spline through data."""

import torch
import torchcde


class Rule(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4 * 3)

    def forward(self, t, z):
        return self.layer(z).tanh().view(*z.shape[:-1], 4, 3)


def work():
    torch.manual_seed(0)
    data = torch.randn(2, 6, 3)
    data[0, 2, 1] = float("nan")
    coefficients = torchcde.hermite_cubic_coefficients_with_backward_differences(data)
    path = torchcde.CubicSpline(torchcde.natural_cubic_coeffs(data))
    rule = Rule()
    control = torchcde.CubicSpline(coefficients)
    solved = torchcde.cdeint(
        X=control, func=rule, z0=torch.zeros(2, 4), t=control.interval, method="rk4", adjoint=False
    )
    solved[:, -1].sum().backward()
    return {"solved": solved[:, -1], "grad": rule.layer.weight.grad, "path": path.evaluate(2.5)}
