"""Models, transforms and operators of torchvision."""

import torch
import torchvision
from torchvision.transforms import v2


def work():
    torch.manual_seed(0)
    model = torchvision.models.resnet18(num_classes=4).eval()
    images = torch.rand(2, 3, 32, 32)
    loss = torch.nn.functional.cross_entropy(model(images), torch.tensor([0, 2]))
    loss.backward()
    boxes = torch.tensor([[0.0, 0.0, 8.0, 8.0], [1.0, 1.0, 9.0, 9.0], [20.0, 20.0, 28.0, 28.0]])
    kept = torchvision.ops.nms(boxes, torch.tensor([0.5, 0.9, 0.7]), 0.5)
    pooled = torchvision.ops.roi_align(images[:1], [boxes], output_size=2)
    change = v2.Compose([v2.Resize(16), v2.CenterCrop(12), v2.Normalize([0.5] * 3, [0.2] * 3)])
    grid = torchvision.utils.make_grid(images, nrow=2)
    return {
        "loss": loss,
        "grad": model.conv1.weight.grad.abs().sum(),
        "kept": kept,
        "pooled": pooled.mean((2, 3)),
        "changed": change(images).mean((0, 2, 3)),
        "grid": list(grid.shape),
        "giou": torchvision.ops.generalized_box_iou(boxes, boxes),
    }
