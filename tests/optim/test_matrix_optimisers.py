"""Optimisers that see their parameters as matrices: Muon and Adafactor."""

import pytest
import rushlight as torch


def parameter(*shape):
    count = torch.Size(shape).numel()
    x = (torch.arange(float(count)) / 7).reshape(shape).requires_grad_()
    x.grad = (torch.arange(float(count)) + 0.1).sin().reshape(shape)
    return x


def stepped(make, x, steps=2):
    optimiser = make([x])
    for _ in range(steps):
        optimiser.step()
    return optimiser


def test_muon_steps_along_matrices_with_singular_values_near_one():
    x = torch.eye(3, 5).requires_grad_()
    x.grad = torch.eye(3, 5) + 0.3
    before = x.detach().clone()
    stepped(lambda all: torch.optim.Muon(all, lr=1.0, weight_decay=0.0), x, steps=1)
    values = torch.linalg.svdvals(x.detach() - before)
    assert bool(((values > 0.6) & (values < 1.3)).all())


def test_muon_steps_by_the_shape():
    def step(adjustment):
        x = parameter(8, 2)
        before = x.detach().clone()
        stepped(lambda all: torch.optim.Muon(all, 1.0, 0.0, adjust_lr_fn=adjustment), x, steps=1)
        return x.detach() - before

    steps = {adjustment: step(adjustment) for adjustment in ("original", "match_rms_adamw")}
    torch.testing.assert_close(steps["match_rms_adamw"], steps["original"] * (0.2 * 8**0.5 / 2))


def test_muon_decays_weights_and_keeps_the_running_gradient():
    x = torch.eye(2).requires_grad_()
    x.grad = torch.zeros(2, 2)
    optimiser = stepped(lambda all: torch.optim.Muon(all, lr=0.5, weight_decay=0.5), x, steps=1)
    torch.testing.assert_close(x.detach(), 0.75 * torch.eye(2))
    x.grad = torch.ones(2, 2)
    optimiser.step()
    torch.testing.assert_close(optimiser.state[x]["momentum_buffer"], torch.full((2, 2), 0.05))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": -1}, "Learning rate should be >= 0 but is: -1"),
        ({"momentum": -1}, "momentum should be >= 0 but is: -1"),
        ({"weight_decay": -1}, "weight decay should be >= 0 but is: -1"),
        ({"adjust_lr_fn": "x"}, "Adjust learning rate function x is not supported"),
        ({"lr": torch.ones(2)}, "Tensor lr must be 1-element"),
    ],
)
def test_muon_refuses_options_that_make_no_sense(options, message):
    with pytest.raises(ValueError) as caught:
        torch.optim.Muon([parameter(2, 2)], **options)
    assert str(caught.value) == message


def test_muon_refuses_what_is_no_matrix():
    with pytest.raises(ValueError) as caught:
        torch.optim.Muon([parameter(2)])
    assert str(caught.value) == (
        "Muon only supports 2D parameters whereas we found a parameter with size: torch.Size([2])"
    )


# name: options, shape, and what two steps make of the parameter.
ADAFACTOR = {
    "a matrix": ({}, (2, 2), [-0.0008, 0.1355, 0.2781, 0.4282]),
    "a vector": ({}, (3,), [-0.0037, 0.1392, 0.2820]),
    "larger steps": ({"lr": 0.5, "weight_decay": 0.1, "maximize": True}, (3,), [0.2143, 0.3433, 0.4722]),
}


@pytest.mark.parametrize(("options", "shape", "expected"), ADAFACTOR.values(), ids=ADAFACTOR)
def test_adafactor_takes_the_steps_that_torch_takes(options, shape, expected):
    x = parameter(*shape)
    stepped(lambda all: torch.optim.Adafactor(all, **options), x)
    torch.testing.assert_close(x.detach().flatten(), torch.tensor(expected), rtol=0, atol=6e-5)


def test_adafactor_keeps_a_row_and_a_column_of_a_matrix():
    x = parameter(2, 3, 4)
    state = stepped(torch.optim.Adafactor, x).state[x]
    shapes = {name: tuple(held.shape) for name, held in state.items()}
    assert shapes == {"step": (), "row_var": (2, 3, 1), "col_var": (2, 1, 4)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": -1}, "Learning rate should be >= 0 but is: -1"),
        ({"beta2_decay": 1}, "beta2_decay should be <= 0 but is: 1"),
        ({"eps": (-1, 1)}, "epsilon1 should be >= 0 but is: -1"),
        ({"eps": (None, -1)}, "epsilon2 should be >= 0 but is: -1"),
        ({"d": 0.5}, "Clipping threshold d should be >= 1 but is: 0.5"),
        ({"weight_decay": -1}, "weight_decay should be >= 0 but is: -1"),
    ],
)
def test_adafactor_refuses_options_that_make_no_sense(options, message):
    with pytest.raises(ValueError) as caught:
        torch.optim.Adafactor([parameter(2, 2)], **options)
    assert str(caught.value) == message
