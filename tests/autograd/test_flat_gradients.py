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


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.clamp(0),
        lambda x: torch.maximum(x, x.detach() + 1),
        torch.amax,
        torch.median,
        torch.nan_to_num,
        torch.sgn,
        lambda x: x.cummax(0)[0],
        lambda x: x.gather(0, torch.tensor([0, 2])),
        lambda x: x.masked_select(x > 0),
    ],
)
def test_a_gradient_that_is_chosen_by_comparing_is_a_constant(function):
    x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
    assert not gradient.requires_grad


def test_what_is_no_number_is_not_multiplied_by_a_second_gradient_of_nothing():
    # Where the margin is not exceeded the gradient is zero, whatever stands there.
    x, y, target = (
        torch.tensor(numbers, requires_grad=True)
        for numbers in ([1.0, float("nan"), 3.0], [0.5, 2.0, float("inf")], [1.0, 1.0, 1.0])
    )
    loss = F.margin_ranking_loss(x, y, target, margin=1.0, reduction="sum")
    first = torch.autograd.grad(loss, (x, y, target), create_graph=True)
    total = sum(gradient.sum() for gradient in first)
    second = torch.autograd.grad(total, target)
    assert torch.equal(second[0], torch.zeros(3))


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
