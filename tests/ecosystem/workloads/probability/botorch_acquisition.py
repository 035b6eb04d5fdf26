"""Bayesian optimisation: a process is fitted, and expected improvement is climbed from Sobol points."""

import torch
from botorch.acquisition import LogExpectedImprovement, qExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.mlls import ExactMarginalLogLikelihood


def work():
    torch.manual_seed(0)
    x = torch.linspace(0, 1, 7, dtype=torch.float64).unsqueeze(-1)
    y = -((x - 0.37) ** 2) + 0.05 * torch.sin(20 * x)
    model = SingleTaskGP(x, y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    best = LogExpectedImprovement(model, best_f=y.max())
    found, value = optimize_acqf(best, bounds, q=1, num_restarts=3, raw_samples=16)
    sampler = SobolQMCNormalSampler(torch.Size([32]), seed=1)
    several = qExpectedImprovement(model, y.max(), sampler)(found.unsqueeze(0))
    return {"found": found, "value": value, "several": several}
