"""Sparse relatives of softmax and the losses that belong to them."""

import entmax
import torch


def work():
    torch.manual_seed(0)
    x = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    labels = torch.tensor([0, 2, 4])
    found = {
        "sparsemax": entmax.sparsemax(x),
        "entmax15": entmax.entmax15(x),
        "bisect": entmax.entmax_bisect(x, 1.3),
    }
    loss = entmax.Entmax15Loss()(x, labels) + entmax.SparsemaxLoss()(x, labels) + found["bisect"][:, 0].sum()
    loss.backward()
    return {**found, "loss": loss, "grad": x.grad}
