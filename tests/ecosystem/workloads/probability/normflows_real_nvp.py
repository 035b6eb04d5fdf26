"""Affine couplings of normflows."""

import normflows as nf
import torch


def work():
    torch.manual_seed(0)
    flows = []
    for _ in range(3):
        flows.append(nf.flows.AffineCouplingBlock(nf.nets.MLP([1, 8, 2], init_zeros=True)))
        flows.append(nf.flows.Permute(2, mode="swap"))
    model = nf.NormalizingFlow(nf.distributions.DiagGaussian(2), flows)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    data = torch.randn(32, 2) @ torch.tensor([[1.0, 0.5], [0.0, 0.3]])
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = model.forward_kld(data)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "drawn": model.sample(4)[0]}
