"""Weights in files of safetensors, there and back."""

import tempfile

import torch
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model


def work():
    torch.manual_seed(0)
    model, other = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, f"{folder}/model.safetensors")
        load_model(other, f"{folder}/model.safetensors")
        save_file({"half": torch.arange(4).bfloat16(), "flags": torch.tensor([True])}, f"{folder}/two")
        back = load_file(f"{folder}/two")
        with safe_open(f"{folder}/two", framework="pt") as file:
            part = file.get_slice("half")[1:3]
    return {
        "weight": other.weight,
        "half": back["half"].float(),
        "part": part.float(),
        "type": str(part.dtype),
    }
