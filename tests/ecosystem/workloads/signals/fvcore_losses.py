"""Counted parameters, and losses of boxes and classes."""

import torch
from fvcore.nn import giou_loss, parameter_count, sigmoid_focal_loss, smooth_l1_loss


def work():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    x, y = torch.randn(3, 4), torch.rand(3, 4)
    boxes = torch.tensor([[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 3.0, 3.0]])
    return {
        "parameters": parameter_count(net)[""],
        "focal": sigmoid_focal_loss(x, y, alpha=0.25, reduction="mean"),
        "smooth": smooth_l1_loss(x, y, 0.5, reduction="sum"),
        "giou": giou_loss(boxes, boxes.flip(0)),
    }
