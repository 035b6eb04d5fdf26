"""Rearranged, reduced and repeated tensors, and layers of einops."""

import torch
from einops import einsum, rearrange, reduce, repeat
from einops.layers.torch import Rearrange, Reduce


def work():
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4, 4, requires_grad=True)
    patches = rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2)
    means = reduce(patches, "b n d -> b d", "mean")
    more = repeat(means, "b d -> b d k", k=2)
    net = torch.nn.Sequential(Reduce("b c h w -> b c", "max"), Rearrange("b c -> c b"))
    loss = einsum(more, patches, "b d k, b n d -> b n k").square().mean() + net(x).sum()
    loss.backward()
    return {"loss": loss, "grad": x.grad.sum((2, 3)), "means": means[0, :4]}
