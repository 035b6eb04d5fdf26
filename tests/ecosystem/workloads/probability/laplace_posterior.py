"""A posterior around trained weights, and what it predicts."""

import torch
from laplace import Laplace
from torch.utils.data import DataLoader, TensorDataset


def work():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    x = torch.linspace(-1, 1, 16).unsqueeze(-1)
    loader = DataLoader(TensorDataset(x, x.sin()), batch_size=8)
    posterior = Laplace(net, "regression", subset_of_weights="last_layer", hessian_structure="full")
    posterior.fit(loader)
    mean, variance = posterior(x[:3])
    return {"mean": mean, "variance": variance, "evidence": posterior.log_marginal_likelihood()}
