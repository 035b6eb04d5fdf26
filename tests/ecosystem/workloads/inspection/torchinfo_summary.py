"""How large a network is, and what its layers return."""

import torch
import torchinfo


def work():
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(8 * 36, 5),
    )  # fmt: skip
    found = torchinfo.summary(net, (2, 3, 8, 8), verbose=0)
    return {
        "parameters": found.total_params,
        "operations": found.total_mult_adds,
        "lines": str(found).count("\n"),
    }
