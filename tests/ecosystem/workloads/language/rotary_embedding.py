"""Positions as rotations of queries and keys."""

import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb


def work():
    torch.manual_seed(0)
    rotary = RotaryEmbedding(dim=8, learned_freq=True)
    queries = torch.randn(1, 2, 5, 8, requires_grad=True)
    turned = rotary.rotate_queries_or_keys(queries)
    turned.square().mul(torch.arange(8.0)).sum().backward()
    again = apply_rotary_emb(rotary(torch.arange(5.0)), queries)
    return {"turned": turned[0, 0, 4], "grad": rotary.freqs.grad, "again": again.sum()}
