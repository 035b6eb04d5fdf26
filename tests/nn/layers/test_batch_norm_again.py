"""What batch normalisation remembers may move on while graphs of earlier calls are still to run."""

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.nn import functional as F
from support import raises


@pytest.fixture
def x():
    return torch.tensor([[1.0, 2.0], [3.0, 5.0], [6.0, 4.0]], requires_grad=True)


def test_remembering_is_no_write_of_the_program(x):
    mean, variance = torch.zeros(2), torch.ones(2)
    F.batch_norm(x, mean, variance, training=True)
    assert mean.tolist() != [0.0, 0.0]
    assert (mean._version, variance._version) == (0, 0)


def test_gradients_of_gradients_survive_another_call(x):
    norm = nn.BatchNorm1d(2)

    def penalty(calls):
        (slope,) = torch.autograd.grad((norm(x) ** 3).sum(), x, create_graph=True)
        for _ in range(calls):
            norm(x)
        x.grad = None
        (slope**2).sum().backward()
        return x.grad

    assert torch.equal(penalty(2), penalty(0))


def test_a_network_may_use_one_norm_twice_in_a_penalty(x):
    norm = nn.BatchNorm1d(2)
    (slope,) = torch.autograd.grad(norm(norm(x) ** 2).pow(3).sum(), x, create_graph=True)
    (slope**2).sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("training", [True, False])
def test_what_the_program_writes_is_refused(x, training):
    mean, variance = torch.zeros(2), torch.ones(2)
    y = F.batch_norm(x, mean, variance, training=training)
    variance.fill_(3.0)
    with raises(RuntimeError, "one of the variables needed for gradient computation has been modified"):
        y.sum().backward()


def test_that_an_empty_batch_does_not_move_the_statistics():
    layer = torch.nn.BatchNorm2d(3)
    layer(torch.randn(0, 3, 2, 2)).sum().backward()
    assert layer.running_mean.tolist() == [0, 0, 0]
    assert layer.running_var.tolist() == [1, 1, 1]
    assert layer.weight.grad.tolist() == [0, 0, 0]
