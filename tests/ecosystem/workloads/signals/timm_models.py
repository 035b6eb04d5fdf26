"""A residual network and a vision transformer of timm: forward, backward, an optimiser and a schedule."""

import timm
import torch
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler


def work():
    found = {}
    for name, options in {
        "resnet18": {},
        "vit_tiny_patch16_224": {"img_size": 32},
        "mobilenetv3_small_050": {},
    }.items():
        torch.manual_seed(0)
        model = timm.create_model(name, pretrained=False, num_classes=5, **options).eval()
        optimizer = create_optimizer_v2(model, opt="lamb", lr=1e-3)
        schedule = CosineLRScheduler(optimizer, t_initial=5)
        images, labels = torch.randn(2, 3, 32, 32), torch.tensor([0, 3])
        losses = []
        for step in range(2):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            schedule.step(step)
            losses.append(loss.item())
        found[name] = losses
    return found
