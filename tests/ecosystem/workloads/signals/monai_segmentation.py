"""A network, a loss and a sliding window of MONAI."""

import torch
from monai.inferers import sliding_window_inference
from monai.losses import DiceCELoss
from monai.metrics import DiceMetric
from monai.networks.nets import UNet


def work():
    torch.manual_seed(0)
    net = UNet(spatial_dims=2, in_channels=1, out_channels=2, channels=(4, 8), strides=(2,), num_res_units=1)
    image, labels = torch.randn(1, 1, 16, 16), torch.randint(0, 2, (1, 1, 16, 16))
    loss = DiceCELoss(to_onehot_y=True, softmax=True)(net(image), labels)
    loss.backward()
    with torch.no_grad():
        out = sliding_window_inference(torch.randn(1, 1, 24, 24), (16, 16), 2, net, overlap=0.5)
    metric = DiceMetric()
    metric(net(image).argmax(1, keepdim=True), labels)
    return {"loss": loss, "out": out.abs().mean(), "dice": metric.aggregate()}
