"""A network written as ONNX, read back and computed by the reference of that package."""

import io

import numpy as np
import onnx
import onnx.reference
import torch


def work():
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.BatchNorm2d(2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(8, 3), torch.nn.Softmax(-1),
    ).eval()  # fmt: skip
    x, file = torch.randn(2, 1, 4, 4), io.BytesIO()
    torch.onnx.export(net, (x,), file, input_names=["x"], output_names=["y"], dynamo=False)
    model = onnx.load_from_string(file.getvalue())
    onnx.checker.check_model(model)
    (found,) = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x.numpy()})
    return {"found": found, "same": bool(np.allclose(found, net(x).detach().numpy(), atol=1e-6))}
