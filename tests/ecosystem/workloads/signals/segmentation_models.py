"""A U-net with a residual encoder, and losses of masks."""

import segmentation_models_pytorch as smp
import torch


def work():
    torch.manual_seed(0)
    model = smp.Unet("resnet18", encoder_weights=None, in_channels=1, classes=1).eval()
    image, mask = torch.randn(1, 1, 32, 32), (torch.rand(1, 1, 32, 32) > 0.5).float()
    out = model(image)
    loss = smp.losses.DiceLoss("binary")(out, mask) + smp.losses.FocalLoss("binary")(out, mask)
    loss.backward()
    return {"loss": loss, "norm": torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)}
