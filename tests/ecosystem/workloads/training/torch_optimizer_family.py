"""Optimisers that torch does not have, on the valley of Rosenbrock."""

import torch
import torch_optimizer


def work():
    found = {}
    for name in ("AdaBound", "AdamP", "DiffGrad", "Lamb", "NovoGrad", "QHAdam", "RAdam", "SGDW", "Yogi"):
        point = torch.tensor([-1.5, 1.0], requires_grad=True)
        optimizer = getattr(torch_optimizer, name)([point], lr=0.01)
        for _ in range(20):
            optimizer.zero_grad()
            ((1 - point[0]) ** 2 + 100 * (point[1] - point[0] ** 2) ** 2).backward()
            torch.nn.utils.clip_grad_norm_([point], 1.0)
            optimizer.step()
        found[name] = point
    return found
