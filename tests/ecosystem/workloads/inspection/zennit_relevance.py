"""Relevance that is passed back through a network by rules, layer for layer."""

import torch
from torch import nn
from zennit.attribution import Gradient, IntegratedGradients, SmoothGrad
from zennit.composites import EpsilonGammaBox, EpsilonPlusFlat


def work():
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 6, 3), nn.ReLU()]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3)).eval()
    image, which = torch.randn(1, 3, 8, 8), torch.eye(3)[[1]]
    found = []
    for composite in (EpsilonPlusFlat(), EpsilonGammaBox(low=-3.0, high=3.0)):
        with Gradient(model=model, composite=composite) as attributor:
            output, relevance = attributor(image, which)
            found += [output.sum(), relevance.abs().sum()]
    for way in (SmoothGrad(model=model, n_iter=3), IntegratedGradients(model=model, n_iter=4)):
        with way as attributor:
            found.append(attributor(image, which)[1].abs().sum())
    return found
