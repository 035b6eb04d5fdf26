"""Optimisers of three small packages: Lion, Prodigy and the one without a schedule."""

import torch
from lion_pytorch import Lion
from prodigyopt import Prodigy
from schedulefree import AdamWScheduleFree


def work():
    found = {}
    for kind, options in ((Lion, {"lr": 0.01}), (Prodigy, {"lr": 1.0}), (AdamWScheduleFree, {"lr": 0.05})):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 1)
        optimizer = kind(model.parameters(), **options)
        if hasattr(optimizer, "train"):
            optimizer.train()
        x = torch.randn(8, 3)
        for _ in range(12):
            optimizer.zero_grad()
            loss = (model(x) - x[:, :1]).square().mean()
            loss.backward()
            optimizer.step()
        found[kind.__name__] = [loss.item(), *model.weight.flatten().tolist()]
    return found
