"""A layer between several streams that mix."""

import torch
from hyper_connections import get_init_and_expand_reduce_stream_functions
from torch import nn


def work():
    torch.manual_seed(0)
    connect, expand, reduce = get_init_and_expand_reduce_stream_functions(4)
    block = connect(dim=8, branch=nn.Linear(8, 8))
    x = torch.randn(2, 3, 8)
    optimizer = torch.optim.Adam(block.parameters(), lr=0.05)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = reduce(block(expand(x))).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "result": reduce(block(expand(x))).sum()}
