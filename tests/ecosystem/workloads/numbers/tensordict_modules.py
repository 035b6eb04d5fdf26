"""Dictionaries of tensors: sliced, stacked, mapped, and passed through modules."""

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential


def work():
    torch.manual_seed(0)
    data = TensorDict({"a": torch.randn(4, 3), "b": {"c": torch.arange(4.0)}}, batch_size=[4])
    first = TensorDictModule(torch.nn.Linear(3, 2), in_keys=["a"], out_keys=["hidden"])
    second = TensorDictModule(torch.nn.Tanh(), in_keys=["hidden"], out_keys=["out"])
    out = TensorDictSequential(first, second)(data.clone())
    out["out"].sum().backward()
    stacked = torch.stack([data, data * 2], 0)
    parameters = TensorDict.from_module(first)
    return {
        "out": out["out"],
        "grad": first.module.weight.grad,
        "shape": list(stacked.shape),
        "sum": stacked["b", "c"].sum(),
        "names": sorted(map(str, parameters.keys(True, True))),
    }
