"""Images that are changed until a network is mistaken, by several attacks."""

import torch


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.last = torch.nn.Linear(4 * 64, 3)

    def forward(self, x):
        return self.last(self.convolution(x).relu().flatten(1))


def work():
    import torchattacks

    torch.manual_seed(0)
    net, x, y = Small().eval(), torch.rand(4, 3, 8, 8), torch.tensor([0, 1, 2, 0])
    found = {}
    for name in ("FGSM", "PGD", "MIFGSM", "CW", "DeepFool", "TPGD", "PGDL2", "DIFGSM", "TIFGSM", "APGD"):
        torch.manual_seed(2)
        changed = getattr(torchattacks, name)(net)(x, y)
        found[name] = [changed.sum(), (changed - x).abs().mean()]
    return found
