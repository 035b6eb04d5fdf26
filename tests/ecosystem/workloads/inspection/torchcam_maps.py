"""Where a network looks, by several ways of torchcam."""

import torch
from torch import nn
from torchcam.methods import GradCAM, LayerCAM, ScoreCAM, SmoothGradCAMpp


def work():
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 6, 3), nn.ReLU()]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3)).eval()
    found = {}
    for way in (GradCAM, LayerCAM, ScoreCAM, SmoothGradCAMpp):
        torch.manual_seed(3)
        image = torch.randn(1, 3, 16, 16, requires_grad=True)
        with way(model, model[2]) as extractor:
            found[way.__name__] = extractor(1, model(image))[0].sum()
    return found
