"""Contractions of several tensors, with gradients."""

import opt_einsum
import torch


def work():
    torch.manual_seed(0)
    a, b, c = (torch.randn(*shape, requires_grad=True) for shape in ((3, 4), (4, 5), (5, 3)))
    out = opt_einsum.contract("ij,jk,ki->i", a, b, c)
    expression = opt_einsum.contract_expression("ij,jk,kl->il", (3, 4), (4, 5), (5, 3))
    (out.sum() + expression(a, b, c).square().sum()).backward()
    return {"out": out, "grad": a.grad}
