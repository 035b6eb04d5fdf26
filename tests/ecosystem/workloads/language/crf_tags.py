"""A conditional random field over tags."""

import torch
from torchcrf import CRF


def work():
    torch.manual_seed(0)
    model = CRF(4, batch_first=True)
    scores = torch.randn(2, 6, 4, requires_grad=True)
    tags, mask = torch.randint(0, 4, (2, 6)), torch.ones(2, 6, dtype=torch.bool)
    mask[1, 4:] = False
    loss = -model(scores, tags, mask=mask)
    loss.backward()
    return {"loss": loss, "grad": scores.grad.abs().sum(), "path": model.decode(scores, mask=mask)}
