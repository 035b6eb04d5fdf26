"""Gradients of functions made of straight pieces: differentiated again they are zeros, not an error."""

import pytest
import rushlight as torch

F = torch.nn.functional


@pytest.mark.parametrize(
    "function, shape",
    [
        (F.leaky_relu, (3,)),
        (lambda x: F.threshold(x, 0.1, 0.2), (3,)),
        (F.relu6, (3,)),
        (F.hardshrink, (3,)),
        (F.softshrink, (3,)),
        (lambda x: F.avg_pool2d(x, 2), (1, 4, 4)),
        (lambda x: F.adaptive_avg_pool2d(x, 2), (1, 4, 4)),
        (lambda x: F.max_pool2d(x, 2), (1, 4, 4)),
        (lambda x: F.pad(x, (1, 1), mode="reflect"), (1, 4)),
        (lambda x: F.nll_loss(x, torch.tensor([0, 1])), (2, 3)),
        (lambda x: torch.linalg.vector_norm(x, float("inf")), (3,)),
    ],
)
def test_the_gradient_of_straight_pieces_has_a_history_of_zeros(function, shape):
    x = torch.linspace(-1, 1, torch.Size(shape).numel()).view(shape).requires_grad_()
    (gradient,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
    assert gradient.requires_grad
    (second,) = torch.autograd.grad(gradient.sum(), x)
    assert torch.equal(second, torch.zeros_like(x))


def test_without_create_graph_the_gradient_has_no_history():
    x = torch.ones(3, requires_grad=True)
    assert not torch.autograd.grad(F.leaky_relu(x).sum(), x)[0].requires_grad


def test_a_sample_that_escaped_a_mapping_changes_nothing():
    escaped = []
    torch.func.vmap(lambda x: escaped.append(x) or x)(torch.ones(2))
    x = torch.ones(2, requires_grad=True)
    (gradient,) = torch.autograd.grad(F.leaky_relu(x).sum(), x, create_graph=True)
    assert gradient.requires_grad
    assert len(escaped) == 1
