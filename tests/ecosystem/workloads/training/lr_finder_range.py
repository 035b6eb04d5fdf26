"""A rate of learning that grows until the loss does."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch_lr_finder import LRFinder


def work():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    data = TensorDataset(torch.randn(64, 6), torch.randint(0, 3, (64,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    finder = LRFinder(model, optimizer, nn.CrossEntropyLoss(), device="cpu")
    finder.range_test(DataLoader(data, batch_size=8, shuffle=True), end_lr=10, num_iter=12)
    history = finder.history
    finder.reset()
    return {"rates": history["lr"], "losses": history["loss"], "again": model[0].weight.sum()}
