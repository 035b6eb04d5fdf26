"""Filters, colours, warps and augmentations of kornia, with gradients."""

import kornia
import torch


def work():
    torch.manual_seed(0)
    image = torch.rand(1, 3, 12, 12, requires_grad=True)
    blurred = kornia.filters.gaussian_blur2d(image, (3, 3), (1.0, 1.0))
    edges = kornia.filters.sobel(blurred)
    lab = kornia.color.rgb_to_lab(image)
    turned = kornia.geometry.transform.rotate(image, torch.tensor([30.0]))
    loss = edges.mean() + lab.mean() * 0.01 + turned.mean()
    loss.backward()
    corners = kornia.feature.harris_response(kornia.color.rgb_to_grayscale(image))
    flipped = kornia.augmentation.RandomHorizontalFlip(p=1.0)(image)
    quaternion = kornia.geometry.conversions.axis_angle_to_rotation_matrix(torch.tensor([[0.1, 0.2, 0.3]]))
    return {
        "loss": loss,
        "grad": image.grad.sum((0, 2, 3)),
        "corners": corners.mean(),
        "flipped": flipped[0, 0, 0, :3],
        "rotation": quaternion,
    }
