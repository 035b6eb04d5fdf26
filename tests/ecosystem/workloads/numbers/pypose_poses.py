"""Poses as elements of Lie groups: their logarithms, and a pose fitted by Levenberg and Marquardt."""

import pypose
import torch


class Between(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.pose = pypose.Parameter(pypose.randn_so3(2))

    def forward(self, rotations):
        return (self.pose.Exp() @ rotations).Log().tensor()


def work():
    torch.manual_seed(0)
    poses = pypose.randn_SE3(3, requires_grad=True)
    logarithms = poses.Log()
    turned = (pypose.Exp(logarithms) @ poses).tensor()
    turned.square().sum().backward()
    model, rotations = Between(), pypose.randn_SO3(2)
    strategy = pypose.optim.strategy.Adaptive(damping=1e-6)
    optimizer = pypose.optim.LM(model, strategy=strategy)
    return {
        "logarithms": logarithms.tensor(),
        "turned": turned,
        "gradient": poses.grad,
        "losses": [optimizer.step(rotations) for _ in range(2)],
        "jacobian": pypose.so3(torch.tensor([0.1, 0.2, 0.3])).Jr(),
    }
