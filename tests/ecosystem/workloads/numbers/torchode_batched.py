"""Differential equations of which each sample has its own steps."""

import torch
import torchode as to


def work():
    start = torch.tensor([[1.2], [5.0]])
    term = to.ODETerm(lambda t, y: -0.5 * y)
    controller = to.IntegralController(atol=1e-5, rtol=1e-4, term=term)
    solver = to.AutoDiffAdjoint(to.Dopri5(term=term), controller)
    times = torch.stack((torch.linspace(0, 5, 4), torch.linspace(3, 4, 4)))
    solved = solver.solve(to.InitialValueProblem(y0=start, t_eval=times))
    return {"solved": solved.ys, "steps": solved.stats["n_steps"]}
