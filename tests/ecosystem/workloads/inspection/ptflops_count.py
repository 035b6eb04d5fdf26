"""Operations and parameters of a network, counted."""

import torch
from ptflops import get_model_complexity_info


def work():
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1))
    macs, parameters = get_model_complexity_info(
        net, (3, 8, 8), as_strings=False, print_per_layer_stat=False, verbose=False, backend="pytorch"
    )
    return {"macs": macs, "parameters": parameters}
