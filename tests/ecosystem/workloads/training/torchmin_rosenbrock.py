"""Minima of the valley of Rosenbrock, by methods that ask for gradients and for Hessians."""

import torch
from torchmin import minimize
from torchmin.benchmarks import rosen


def work():
    start = torch.tensor([1.3, 0.7, 0.8, 1.9, 1.2], dtype=torch.float64)
    found = {}
    for method in ("bfgs", "l-bfgs", "cg", "newton-cg", "newton-exact", "trust-ncg"):
        result = minimize(rosen, start, method=method, max_iter=6)
        found[method] = {"value": result.fun, "place": result.x}
    return found
