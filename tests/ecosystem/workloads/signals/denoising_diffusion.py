"""A diffusion model that learns to take noise away."""

import torch
from denoising_diffusion_pytorch import GaussianDiffusion, Unet


def work():
    torch.manual_seed(0)
    diffusion = GaussianDiffusion(Unet(dim=8, dim_mults=(1, 2), flash_attn=False), image_size=8, timesteps=10)
    images = torch.rand(2, 3, 8, 8)
    optimizer = torch.optim.Adam(diffusion.parameters(), lr=1e-3)
    losses = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = diffusion(images)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "drawn": list(diffusion.sample(batch_size=1).shape)}
