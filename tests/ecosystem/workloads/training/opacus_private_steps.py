"""Steps with differential privacy: gradients of single samples, clipped, with noise, and what they spend."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def work():
    from opacus import PrivacyEngine
    from opacus.grad_sample import GradSampleModule

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    data = DataLoader(TensorDataset(torch.randn(32, 6), torch.randint(0, 3, (32,))), batch_size=8)
    engine = PrivacyEngine(accountant="rdp")
    net, optimizer, data = engine.make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), 0.1),
        data_loader=data,
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        poisson_sampling=False,
        noise_generator=torch.Generator().manual_seed(3),
    )
    losses = []
    for x, y in data:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    seen = GradSampleModule(torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.GroupNorm(2, 4)))
    seen(torch.randn(3, 3, 6, 6)).square().sum().backward()
    samples = [parameter.grad_sample.abs().sum() for parameter in list(seen.parameters())[2:]]
    return {"losses": losses, "spent": engine.get_epsilon(1e-5), "samples": samples}
