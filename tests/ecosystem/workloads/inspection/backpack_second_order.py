"""Gradients of single samples, their variance, and the diagonal of the Hessian, while backward runs."""

import torch
from backpack import backpack, extend
from backpack.extensions import BatchGrad, DiagHessian, Variance


def work():
    torch.manual_seed(0)
    net = extend(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Sigmoid(), torch.nn.Linear(4, 2)))
    lossfunc = extend(torch.nn.CrossEntropyLoss())
    loss = lossfunc(net(torch.randn(5, 3)), torch.tensor([0, 1, 1, 0, 1]))
    with backpack(BatchGrad(), Variance(), DiagHessian()):
        loss.backward()
    first = net[0].weight
    return {
        "loss": loss,
        "each": first.grad_batch.sum(0),
        "variance": first.variance,
        "hessian": first.diag_h,
    }
