"""How gradients lie in memory: those that leaves keep, and those that are handed out."""

import pytest
import rushlight as torch


def leaf(shape, strides):
    return torch.ones(40).as_strided(shape, strides).detach().requires_grad_()


@pytest.mark.parametrize(
    ("shape", "strides", "kept"),
    [
        ((1, 3), (1, 1), (3, 1)),
        ((3, 2), (1, 3), (1, 3)),
        ((2, 1, 3), (3, 7, 1), (3, 3, 1)),
        ((0, 3), (1, 1), (1, 1)),
        ((2, 3), (9, 2), (3, 1)),
    ],
)
def test_a_leaf_takes_over_what_differs_in_dimensions_of_size_one_only(shape, strides, kept):
    x = leaf(shape, strides)
    x.sort(0)[0].sum().backward()
    assert x.grad.stride() == kept


def test_a_gradient_of_images_lies_as_its_leaf_does():
    x = leaf((1, 3, 1, 2), (6, 1, 1, 3))
    x.relu().sum().backward()
    assert x.grad.stride() == (6, 1, 6, 3)


def test_the_gradient_of_a_sum_over_one_element_repeats_nothing():
    x = torch.ones(1, 3, requires_grad=True)
    y = x.sum(0)
    assert torch.autograd.grad(y, x, torch.ones(3))[0].stride() == (3, 1)
    z = torch.ones(3, 1, requires_grad=True)
    y = z.sum(-1, keepdim=True)
    assert torch.autograd.grad(y, z, torch.ones(3, 1))[0].stride() == (1, 1)


def test_the_gradient_of_a_cumulative_sum_of_one_element_is_handed_on():
    x = torch.ones(1, 3, requires_grad=True)
    assert torch.autograd.grad(x.cumsum(0).sum(), x)[0].stride() == (0, 0)


def test_gradients_of_factors_lie_column_by_column_where_equations_are_solved_last():
    x = torch.arange(6.0, dtype=torch.float64).reshape(3, 2).requires_grad_()
    q, _ = torch.linalg.qr(torch.complex(x, x.cos()))
    assert torch.autograd.grad(q.real.contiguous().sum(), x)[0].stride() == (1, 3)


def test_a_gradient_that_shows_other_memory_is_kept_as_it_lies():
    x = leaf((2, 1, 3), (3, 7, 1))
    (x @ torch.ones(3, 2)).sum().backward()
    assert x.grad.stride() == (3, 3, 1)


@pytest.mark.parametrize(
    "mean",
    [
        lambda y: y.mean(),
        lambda y: y.mean(0).sum(),
        lambda y: y.mean(1, keepdim=True).sum(),
        lambda y: y.reshape(3, 2).mean(),
        lambda y: torch.var_mean(y)[1],
        lambda y: torch.std_mean(y, 0)[1].sum(),
    ],
)
def test_a_gradient_of_a_mean_can_be_written_to(mean):
    x, seen = torch.ones(2, 3, requires_grad=True), []
    (found,) = torch.autograd.grad(mean(x), x)
    assert found.stride() == (3, 1)
    twice = found.clone().mul_(2)
    assert torch.equal(found.mul_(2), twice)
    y = x * 1
    y.register_hook(lambda gradient: seen.append(gradient.stride()))
    y.register_hook(lambda gradient: gradient.mul_(2))
    mean(y).backward()
    assert seen == [(3, 1)]
    assert torch.equal(x.grad, twice)


def test_a_function_may_write_to_the_gradient_of_a_mean():
    class Writes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            return gradient.mul_(4)

    x = torch.ones(2, 2, requires_grad=True)
    Writes.apply(x).t().mean().backward()
    assert x.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
