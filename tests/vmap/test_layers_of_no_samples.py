"""Layers, losses and random numbers of no samples, and of states that all samples share."""

import pytest
import rushlight as torch
from rushlight.func import grad, jvp, vmap

F = torch.nn.functional
NONE = torch.empty(0, 2, 3, 4)


def test_attention_of_no_samples():
    attention = torch.nn.MultiheadAttention(4, 2)
    output, weights = vmap(lambda x: attention(x, x, x))(NONE)
    assert output.shape == (0, 2, 3, 4)
    assert weights.shape == (0, 3, 2, 2)


@pytest.mark.parametrize(
    "loss",
    [lambda x: F.kl_div(x, x * 2, reduction="sum"), lambda x: F.triplet_margin_loss(x, x * 2, x + 1)],
)
def test_losses_of_no_samples_have_derivatives(loss):
    rows = NONE[:, 0]
    assert vmap(grad(loss))(rows).shape == (0, 3, 4)
    assert vmap(lambda x: jvp(loss, (x,), (x,))[1])(rows).shape == (0,)


@pytest.mark.own
def test_losses_of_no_samples_are_none():
    assert vmap(lambda x: F.kl_div(x, x * 2, reduction="sum"))(NONE[:, 0]).shape == (0,)


@pytest.mark.parametrize("name", ["uniform_", "normal_", "exponential_", "random_", "log_normal_"])
@pytest.mark.parametrize("randomness", ["same", "different"])
def test_random_numbers_of_no_samples(name, randomness):
    drawn = vmap(lambda x: getattr(x.clone(), name)(), randomness=randomness)(NONE)
    assert drawn.shape == NONE.shape


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("cell", [torch.nn.GRUCell, torch.nn.RNNCell])
def test_cells_start_from_a_state_that_samples_share(cell):
    step = cell(4, 3)
    x = torch.arange(16.0).reshape(2, 2, 4).requires_grad_()
    mapped, looped = vmap(step)(x), torch.stack([step(row) for row in x])
    torch.testing.assert_close(mapped, looped)
    slopes = [torch.autograd.grad(y.sum(), x)[0] for y in (mapped, looped)]
    torch.testing.assert_close(*slopes)


def test_what_least_squares_miss_is_not_measured_of_samples():
    matrices = torch.eye(3).expand(2, 3, 3)
    assert vmap(lambda a: torch.linalg.lstsq(a, a).residuals)(matrices).shape == (2, 0)
    nested = vmap(vmap(lambda a: torch.linalg.lstsq(a, a).residuals))(matrices.expand(4, 2, 3, 3))
    assert nested.shape == (4, 2, 0)
    solved = vmap(vmap(lambda a: torch.linalg.lstsq(a, a).solution))(matrices.expand(4, 2, 3, 3))
    torch.testing.assert_close(solved, matrices.expand(4, 2, 3, 3))
