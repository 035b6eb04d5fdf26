"""A state space model whose recurrence is scanned in parallel."""

import torch
from mambapy.mamba import Mamba, MambaConfig


def work():
    torch.manual_seed(0)
    model = Mamba(MambaConfig(d_model=8, n_layers=2))
    x = torch.randn(2, 8, 8)
    loss = model(x).square().mean()
    loss.backward()
    return {"loss": loss, "norm": torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)}
