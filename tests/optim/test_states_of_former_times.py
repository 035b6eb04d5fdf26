"""States of optimisers that were saved when steps were counted in plain numbers."""

import copy

import pytest
import rushlight as torch


@pytest.mark.parametrize(
    "name",
    [
        "Adam",
        "AdamW",
        "Adagrad",
        "Adamax",
        "Adadelta",
        "ASGD",
        "NAdam",
        "RAdam",
        "RMSprop",
        "Rprop",
        "Adafactor",
    ],
)
def test_steps_may_be_plain_numbers(name):
    def made():
        parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
        parameter.grad = torch.tensor([0.5, 0.25])
        return parameter, getattr(torch.optim, name)([parameter])

    parameter, optimizer = made()
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    optimizer.step()
    again, other = made()
    other.step()
    for kept in ("step", "mu_product"):
        if kept in state["state"][0]:
            state["state"][0][kept] = 1 if kept == "step" else float(other.state[again][kept])
    other.load_state_dict(state)
    assert isinstance(other.state[again]["step"], torch.Tensor)
    other.step()
    assert other.state[again]["step"].item() == 2
    assert torch.equal(again, parameter)
