"""Vectors that become the nearest of a codebook."""

import torch
from vector_quantize_pytorch import FSQ, VectorQuantize


def work():
    torch.manual_seed(0)
    quantizer = VectorQuantize(dim=4, codebook_size=8, decay=0.8, kmeans_init=False)
    x = torch.randn(1, 6, 4, requires_grad=True)
    out, indices, loss = quantizer(x)
    (out.sum() + loss.sum()).backward()
    steps, numbers = FSQ([4, 3])(torch.randn(1, 5, 2))
    return {"out": out, "indices": indices, "loss": loss, "grad": x.grad, "steps": steps, "numbers": numbers}
