"""Layers with adapters of low rank, of which only these are trained."""

import loralib
import torch
from torch import nn
from torch.nn import functional as F


def work():
    torch.manual_seed(0)
    merged = loralib.MergedLinear(8, 12, r=2, enable_lora=[True, False, True])
    model = nn.Sequential(loralib.Embedding(10, 8, r=2), merged, nn.ReLU(), loralib.Linear(12, 3, r=2))
    loralib.mark_only_lora_as_trainable(model)
    x, y = torch.randint(0, 10, (5, 4)), torch.randint(0, 3, (5,))
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.05)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).mean(1), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    return {"losses": losses, "merged": model(x).sum(), "kept": sorted(loralib.lora_state_dict(model))}
