"""Gradients through steps of optimisers: a network is trained inside, and its first weights are asked."""

import higher
import torch


def work():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    found = []
    for optimizer in (
        torch.optim.SGD(net.parameters(), 0.1, momentum=0.9),
        torch.optim.Adam(net.parameters(), 0.01),
    ):
        with higher.innerloop_ctx(net, optimizer, copy_initial_weights=False) as (inner, steps):
            for _ in range(3):
                steps.step(torch.nn.functional.cross_entropy(inner(x), y))
            loss = torch.nn.functional.cross_entropy(inner(x), y)
            found.append(
                [loss, *(grad.abs().sum() for grad in torch.autograd.grad(loss, list(net.parameters())))]
            )
    return found
