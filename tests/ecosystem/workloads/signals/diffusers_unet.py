"""A UNet of diffusers: a step of training on noise, and three steps of sampling."""

import torch
from diffusers import DDPMScheduler, UNet2DModel


def work():
    torch.manual_seed(0)
    model = UNet2DModel(
        sample_size=8,
        in_channels=1,
        out_channels=1,
        layers_per_block=1,
        block_out_channels=(8, 16),
        norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )
    scheduler = DDPMScheduler(num_train_timesteps=10)
    clean, noise, times = torch.randn(2, 1, 8, 8), torch.randn(2, 1, 8, 8), torch.tensor([3, 7])
    noisy = scheduler.add_noise(clean, noise, times)
    loss = torch.nn.functional.mse_loss(model(noisy, times).sample, noise)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scheduler.set_timesteps(3)
    image = torch.randn(1, 1, 8, 8)
    with torch.no_grad():
        for time in scheduler.timesteps:
            image = scheduler.step(model(image, time).sample, time, image).prev_sample
    return {"loss": loss, "norm": norm, "image": image.flatten()[:6]}
