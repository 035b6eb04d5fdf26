"""Vision transformers: the plain one, and one for small data."""

import torch
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.vit_for_small_dataset import ViT as SmallViT


def work():
    found = {}
    options = {"image_size": 16, "patch_size": 4, "num_classes": 3, "depth": 1, "heads": 2, "mlp_dim": 16}
    for kind in (ViT, SimpleViT, SmallViT):
        torch.manual_seed(0)
        model = kind(dim=12, **options)
        loss = torch.nn.functional.cross_entropy(model(torch.randn(2, 3, 16, 16)), torch.tensor([0, 2]))
        loss.backward()
        norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
        found[f"{kind.__module__}.{kind.__name__}"] = [loss.item(), norm.item()]
    return found
