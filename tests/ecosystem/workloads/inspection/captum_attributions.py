"""What a network's answers are due to, by several ways of captum."""

import torch
from captum.attr import (
    DeepLift,
    FeatureAblation,
    GradientShap,
    GuidedBackprop,
    IntegratedGradients,
    LayerGradCam,
    Saliency,
)


def work():
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(3 * 36, 2)
    )
    image = torch.randn(2, 1, 8, 8)
    found = {}
    for kind in (IntegratedGradients, Saliency, DeepLift, GuidedBackprop, FeatureAblation):
        found[kind.__name__] = kind(net).attribute(image, target=1).flatten()[:4]
    cam = LayerGradCam(net, net[0]).attribute(image, target=0)
    found["cam"] = cam.mean()
    shap = GradientShap(net).attribute(image, baselines=torch.zeros(2, 1, 8, 8), target=1, n_samples=2)
    found["shap"] = list(shap.shape)
    return found
