"""Optimisers as functions, and a gradient through several of their steps."""

import torch
import torchopt


def work():
    torch.manual_seed(0)
    net, rate = torch.nn.Linear(2, 1), torch.tensor(1.0, requires_grad=True)
    inner = torchopt.MetaSGD(net, lr=0.1)
    x = torch.randn(6, 2)
    for _ in range(3):
        inner.step((rate * net(x) - 1.0).square().mean())
    outer = (net(x) - 2.0).square().mean()
    outer.backward()
    parameters = (torch.ones(3, requires_grad=True),)
    adam = torchopt.adam(lr=0.1)
    state = adam.init(parameters)
    grads = torch.autograd.grad(parameters[0].square().sum(), parameters)
    updates, state = adam.update(grads, state)
    return {"outer": outer, "grad": rate.grad, "applied": torchopt.apply_updates(parameters, updates)[0]}
