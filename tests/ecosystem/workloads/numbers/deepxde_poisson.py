"""A differential equation that a network satisfies: u'' = -pi^2 sin(pi x)."""

import os

import numpy as np
import torch

os.environ["DDE_BACKEND"] = "pytorch"


def work():
    import deepxde as dde

    dde.config.set_random_seed(0)
    torch.set_default_dtype(torch.float32)

    def equation(x, u):
        return dde.grad.hessian(u, x) + np.pi**2 * torch.sin(np.pi * x)

    line = dde.geometry.Interval(-1, 1)
    edge = dde.icbc.DirichletBC(line, lambda x: 0, lambda _, on_boundary: on_boundary)
    data = dde.data.PDE(line, equation, edge, num_domain=16, num_boundary=2, train_distribution="uniform")
    net = dde.nn.FNN([1, 16, 16, 1], "tanh", "Glorot uniform")
    model = dde.Model(data, net)
    model.compile("adam", lr=1e-3, verbose=0)
    history, _ = model.train(iterations=20, display_every=10, verbose=0)
    return {"losses": np.array(history.loss_train).sum(1)}
