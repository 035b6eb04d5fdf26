"""Layers that normalise, beside their formulas in double precision: values, gradients, and gradients of these."""

import pytest
import rushlight as torch
from rushlight.nn import functional as F


def numbers(*shape, dtype=torch.float64):
    count = 1
    for size in shape:
        count *= size
    return (torch.arange(count, dtype=torch.float64).mul(0.7311).sin() * 3 + 0.5).reshape(shape).to(dtype)


def by_formula(x, dims, weight, bias, eps=1e-5):
    centred = x - x.mean(dims, keepdim=True)
    y = centred / (centred.pow(2).mean(dims, keepdim=True) + eps).sqrt()
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def gradients(y, inputs, g):
    return torch.autograd.grad(y, [one for one in inputs if one is not None], g)


def compare(function, formula, x, weight, bias, g):
    """The values and all gradients, in single and in double precision."""
    leaves = [None if one is None else one.clone().requires_grad_() for one in (x, weight, bias)]
    expected = formula(*leaves)
    wanted = [expected, *gradients(expected, leaves, g)]
    for dtype, tolerance in ((torch.float64, 1e-11), (torch.float32, 2e-4)):
        own = [None if one is None else one.to(dtype).requires_grad_() for one in (x, weight, bias)]
        y = function(*own)
        found = [y, *gradients(y, own, g.to(dtype))]
        for one, other in zip(found, wanted, strict=True):
            assert one.dtype == dtype
            assert one.shape == other.shape
            scale = max(1.0, other.abs().max().item())
            assert (one.double() - other).abs().max().item() <= tolerance * scale


AFFINE = [(True, True), (True, False), (False, True), (False, False)]


def parameters(shape, weighted, biased):
    weight = numbers(*shape) + 2 if weighted else None
    return weight, numbers(*shape) - 1 if biased else None


@pytest.mark.parametrize("affine", AFFINE)
@pytest.mark.parametrize(
    "shape", [(3, 1), (5, 7), (4, 8), (70, 33), (300, 1000), (3, 9001), (1500, 4), (2, 3, 45)]
)
def test_layers_are_those_of_the_formula(shape, affine):
    x, last = numbers(*shape), shape[-1:]
    weight, bias = parameters(last, *affine)
    compare(
        lambda x, weight, bias: F.layer_norm(x, last, weight, bias),
        lambda x, weight, bias: by_formula(x, -1, weight, bias),
        x,
        weight,
        bias,
        numbers(*shape).cos(),
    )


# torch has no gradient of groups that have a bias but no weight.
@pytest.mark.parametrize("affine", [(True, True), (True, False), (False, False)])
@pytest.mark.parametrize("shape", [(2, 6, 5), (3, 6, 8), (4, 6, 7, 9), (2, 6, 70, 80), (1, 6, 3, 4, 5)])
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_groups_are_those_of_the_formula(shape, groups, affine):
    weight, bias = parameters((6,), *affine)
    seen = (6, *[1] * (len(shape) - 2))

    def formula(x, weight, bias):
        y = by_formula(x.reshape(shape[0], groups, -1), -1, None, None).reshape(shape)
        y = y if weight is None else y * weight.reshape(seen)
        return y if bias is None else y + bias.reshape(seen)

    function = lambda x, weight, bias: F.group_norm(x, groups, weight, bias)  # noqa: E731
    compare(function, formula, numbers(*shape), weight, bias, numbers(*shape).cos())


@pytest.mark.parametrize("affine", AFFINE)
@pytest.mark.parametrize("shape", [(20, 6), (1500, 6), (3, 6, 8), (4, 6, 7, 9), (2, 6, 70, 80)])
@pytest.mark.parametrize("training", [True, False])
def test_batches_are_those_of_the_formula(shape, training, affine):
    weight, bias = parameters((6,), *affine)
    seen = (1, 6, *[1] * (len(shape) - 2))
    dims = [dim for dim in range(len(shape)) if dim != 1]
    mean, variance = numbers(6), numbers(6).abs() + 0.3

    def formula(x, weight, bias):
        weight, bias = (None if one is None else one.reshape(seen) for one in (weight, bias))
        if training:
            return by_formula(x, dims, weight, bias)
        y = (x - mean.reshape(seen)) / (variance.reshape(seen) + 1e-5).sqrt()
        y = y if weight is None else y * weight
        return y if bias is None else y + bias

    def function(x, weight, bias):
        held = [mean.to(x.dtype), variance.to(x.dtype)]
        return F.batch_norm(x, *held, weight, bias, training)

    compare(function, formula, numbers(*shape), weight, bias, numbers(*shape).cos())


def test_running_statistics_are_those_of_the_batch():
    x = numbers(4, 3, 6, 7)
    mean, variance = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    F.batch_norm(x, mean, variance, training=True, momentum=0.25)
    lines = x.transpose(0, 1).reshape(3, -1)
    assert torch.allclose(mean, 0.25 * lines.mean(1), rtol=1e-12)
    assert torch.allclose(variance, 0.75 + 0.25 * lines.var(1), rtol=1e-12)


@pytest.mark.parametrize(
    "turned", [lambda x: x.transpose(0, 1), lambda x: x[:, ::2], lambda x: x[:1].expand(6, 12)]
)
def test_elements_may_lie_anywhere(turned):
    x = turned(numbers(12, 12)).detach()
    weight = numbers(24)[::2][: x.shape[1]]
    plain = x.clone(memory_format=torch.contiguous_format).requires_grad_()
    x = x.requires_grad_()
    found, expected = (F.layer_norm(one, weight.shape, weight) for one in (x, plain))
    assert torch.equal(found, expected)
    g = torch.ones((), dtype=torch.float64).expand(found.shape)
    assert torch.equal(*(torch.autograd.grad(y, one, g)[0] for y, one in ((found, x), (expected, plain))))


def test_images_keep_their_channels_last():
    x = numbers(2, 8, 5, 6).to(memory_format=torch.channels_last).requires_grad_()
    y = F.batch_norm(x, None, None, training=True)
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert torch.allclose(y, by_formula(x, [0, 2, 3], None, None))


def test_only_what_is_asked_for_is_computed():
    x, weight, bias = numbers(9, 16), numbers(16).requires_grad_(), numbers(16).requires_grad_()
    y = F.layer_norm(x, (16,), weight, bias)
    found = torch.autograd.grad(y, bias, numbers(9, 16), retain_graph=True)[0]
    assert torch.allclose(found, numbers(9, 16).sum(0))
    both = torch.autograd.grad(y, [weight, bias], numbers(9, 16))
    assert torch.equal(both[1], found)


def test_nothing_is_normalised_to_nothing():
    weight = torch.ones(4, requires_grad=True)
    x = torch.ones(0, 4, requires_grad=True)
    F.layer_norm(x, (4,), weight).sum().backward()
    assert x.grad.shape == (0, 4)
    assert torch.equal(weight.grad, torch.zeros(4))


def test_what_is_no_number_stays_in_its_row():
    x = numbers(3, 40)
    x[1, 5] = float("nan")
    x[2, 7] = float("inf")
    y = F.layer_norm(x, (40,))
    assert y[0].isfinite().all()
    assert y[1:].isnan().all()


@pytest.mark.parametrize(
    "function",
    [
        lambda x, weight, bias: F.layer_norm(x, (9,), weight, bias),
        lambda x, weight, bias: F.group_norm(x.reshape(2, 3, 9), 3, weight[:3], bias[:3]),
        lambda x, weight, bias: F.batch_norm(x.reshape(2, 3, 9), None, None, weight[:3], bias[:3], True),
    ],
)
def test_gradients_of_gradients_hold(function):
    inputs = [numbers(6, 9).requires_grad_(), numbers(9).requires_grad_(), numbers(9).requires_grad_()]
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


def test_threads_do_not_show_in_the_bits():
    x, weight = numbers(700, 300, dtype=torch.float32), numbers(300, dtype=torch.float32)
    images = numbers(4, 32, 40, 50, dtype=torch.float32)

    def everything():
        found = []
        for function, given in (
            (lambda x: F.layer_norm(x, (300,), weight), x),
            (lambda x: F.group_norm(x, 8), images),
            (lambda x: F.batch_norm(x, None, None, training=True), images),
        ):
            given = given.clone().requires_grad_()
            y = function(given)
            found += [y, torch.autograd.grad(y, given, y.detach().cos())[0]]
        return found

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = everything()
        torch.set_num_threads(3)
        assert all(torch.equal(a, b) for a, b in zip(one, everything(), strict=True))
    finally:
        torch.set_num_threads(before)
