"""Vision transformers, CLIP and a detector: training steps on images of the program."""

import torch
import transformers

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24}
IMAGES = {**SIZES, "image_size": 32, "patch_size": 8}
WORDS = {**SIZES, "vocab_size": 40, "max_position_embeddings": 16}


def steps():
    """Yield models, and what they are given."""
    labels = torch.tensor([1, 0])
    yield transformers.ViTForImageClassification(transformers.ViTConfig(**IMAGES)), {"labels": labels}
    yield transformers.Dinov2ForImageClassification(transformers.Dinov2Config(**IMAGES)), {"labels": labels}
    backbone = transformers.ConvNextConfig(hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1])
    yield transformers.ConvNextForImageClassification(backbone), {"labels": labels}
    clip = transformers.CLIPConfig(text_config=WORDS, vision_config=IMAGES, projection_dim=8)
    yield transformers.CLIPModel(clip), {"input_ids": torch.randint(3, 40, (2, 8)), "return_loss": True}
    box = {"class_labels": torch.tensor([0]), "boxes": torch.tensor([[0.5, 0.5, 0.2, 0.2]])}
    yolos = transformers.YolosConfig(**{**IMAGES, "image_size": [32, 32]}, num_detection_tokens=5)
    yield transformers.YolosForObjectDetection(yolos), {"labels": [box, box]}


def work():
    torch.manual_seed(0)
    images = torch.randn(2, 3, 32, 32)
    found = {}
    for model, given in steps():
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        losses = []
        for _ in range(2):
            optimizer.zero_grad()
            loss = model(pixel_values=images, **given).loss
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        found[type(model).__name__] = losses
    return found
