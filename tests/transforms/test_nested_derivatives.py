"""Derivatives of derivatives, of both directions, of many samples at once: as of one sample at a time."""

import pytest
import rushlight as torch
from rushlight.func import grad, jvp, vmap


def symmetric(*shape):
    x = torch.randn(*shape, dtype=torch.float64)
    return x + x.mT


def along(function):
    """The derivative of a function in the direction of ones."""
    return lambda x: jvp(function, (x,), (torch.ones_like(x),))[1]


FUNCTIONS = {
    "a diagonal as tangent": lambda x: torch.linalg.eigvalsh(x)[0],
    "a part of a matrix as tangent": lambda x: torch.matrix_exp(x).sum(),
    "two outputs": lambda x: (torch.linalg.svdvals(x) ** 2).sum(),
    "values in order": lambda x: (x.sort(0)[0] ** 3).sum(),
    "a transposed result": lambda x: (x.exp().t() ** 2)[0].sum(),
    "a diagonal": lambda x: (x.exp().diagonal() ** 2).sum(),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_gradients_of_directional_derivatives_are_those_of_each_sample(function):
    samples = symmetric(4, 3, 3)
    expected = torch.stack([grad(along(function))(sample) for sample in samples])
    assert expected.abs().sum() > 0
    torch.testing.assert_close(vmap(grad(along(function)))(samples), expected)


def test_directional_derivatives_of_two_levels_are_those_of_each_sample():
    def function(x):
        return (torch.linalg.eigvalsh(x) ** 3).sum()

    samples = symmetric(3, 3, 3)
    expected = torch.stack([along(along(function))(sample) for sample in samples])
    torch.testing.assert_close(vmap(along(along(function)))(samples), expected)


def test_the_gradient_of_eigenvectors_is_symmetric():
    x = symmetric(3, 3).requires_grad_()
    vectors = torch.linalg.eigh(x).eigenvectors
    (gradient,) = torch.autograd.grad((vectors.abs() * torch.randn(3, 3, dtype=torch.float64)).sum(), x)
    torch.testing.assert_close(gradient, gradient.mT)


class Squared(torch.autograd.Function):
    """Squares with rules of their own, in all directions."""

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        return 2 * ctx.saved_tensors[0] * gradient

    @staticmethod
    def jvp(ctx, tangent):
        return 2 * ctx.saved_tensors[0] * tangent

    @staticmethod
    def vmap(info, in_dims, x):
        return Squared.apply(x), in_dims[0]


def test_second_derivatives_of_written_rules_where_the_directions_alone_are_samples():
    x = torch.tensor([0.5, -1.0])
    curve = torch.func.hessian(lambda x: (Squared.apply(x) * x).sum())(x)
    assert curve.tolist() == [[3.0, 0.0], [0.0, -6.0]]


def written_through_a_view(x):
    y = x.clone()
    y[:1].mul_(x[:1])
    return y * x[0]


def test_second_derivatives_of_samples_pass_what_was_written_through_views():
    def slopes(x):
        return grad(lambda x: written_through_a_view(x).sum())(x)

    def total(x):
        return slopes(x).sum()

    samples = torch.tensor([[0.5, 1.0], [2.0, -1.0]])
    curves = vmap(grad(total))(samples)
    assert curves.tolist() == [[4.0, 1.0], [13.0, 1.0]]
    assert torch.equal(curves, torch.stack([grad(total)(sample) for sample in samples]))

    def all_directions(x):
        return vmap(lambda direction: jvp(slopes, (x,), (direction,))[1])(torch.eye(2)).sum()

    assert grad(all_directions)(samples[0]).tolist() == [6.0, 0.0]
