"""Convolutions of every stride, spacing and number of groups, and their gradients, beside sums."""

import itertools

import pytest
import rushlight as torch

F = torch.nn.functional


def by_elements(x, weight, stride, padding, dilation, groups):
    """Return the convolution as the sum of what each element of a window contributes."""
    spatial = x.dim() - 2
    x = F.pad(x, [padding] * 2 * spatial)
    kernel = weight.shape[2:]
    counts = [
        (size - dilation * (k - 1) - 1) // stride + 1 for size, k in zip(x.shape[2:], kernel, strict=True)
    ]
    total = 0
    for element in itertools.product(*map(range, kernel)):
        places = tuple(
            slice(at * dilation, at * dilation + stride * (count - 1) + 1, stride)
            for at, count in zip(element, counts, strict=True)
        )
        seen = x[(slice(None), slice(None), *places)].reshape(len(x), groups, -1, *counts)
        factors = weight[(slice(None), slice(None), *element)].reshape(groups, -1, weight.shape[1])
        total = total + torch.einsum("ngc...,goc->ngo...", seen, factors).reshape(len(x), -1, *counts)
    return total


CASES = [
    # size, kernel, stride, padding, dilation, groups, channels in and out of a group
    ((19,), (3,), 1, 1, 1, 1, 4, 9),
    ((23,), (5,), 2, 0, 1, 2, 3, 2),
    ((16,), (16,), 1, 0, 1, 1, 2, 3),
    ((9, 17), (3, 3), 1, 1, 1, 1, 3, 13),
    ((9, 17), (3, 2), 2, 2, 1, 3, 2, 5),
    ((8, 7), (3, 3), 3, 1, 2, 1, 5, 4),
    ((11, 6), (1, 1), 2, 0, 1, 1, 5, 8),
    ((4, 8), (1, 1), 1, 0, 1, 2, 6, 8),
    ((5, 5), (2, 2), 5, 4, 1, 1, 2, 2),
    ((6, 6), (3, 3), 1, 1, 1, 7, 1, 1),
    ((30, 40), (3, 3), 1, 1, 1, 6, 1, 2),
    ((5, 6, 7), (2, 3, 2), 1, 1, 1, 1, 2, 8),
    ((5, 6, 7), (3, 1, 2), 2, 1, 2, 2, 2, 3),
    ((1, 1000), (1, 9), 1, 4, 1, 1, 1, 12),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("case", CASES)
def test_convolutions_and_their_gradients_are_sums_over_elements_of_windows(case, dtype):
    size, kernel, stride, padding, dilation, groups, channels, out = case
    torch.manual_seed(0)
    x = torch.randn(3, groups * channels, *size, dtype=dtype)
    weight = torch.randn(groups * out, channels, *kernel, dtype=dtype)
    bias = torch.randn(groups * out, dtype=dtype)
    convolve = (F.conv1d, F.conv2d, F.conv3d)[len(size) - 1]
    given = [x.requires_grad_(), weight.requires_grad_(), bias.requires_grad_()]
    y = convolve(x, weight, bias, stride, padding, dilation, groups)
    exact = [one.detach().double().requires_grad_() for one in given]
    expected = by_elements(*exact[:2], stride, padding, dilation, groups)
    expected = expected + exact[2].reshape(-1, *[1] * len(size))
    close = {"rtol": 1e-4, "atol": 1e-3} if dtype == torch.float32 else {}
    torch.testing.assert_close(y.double(), expected, **close)
    g = torch.randn_like(expected)
    found = torch.autograd.grad(y, given, g.to(dtype))
    for one, other in zip(found, torch.autograd.grad(expected, exact, g), strict=True):
        torch.testing.assert_close(one.double(), other, **close)


@pytest.mark.parametrize("stride", [1, 2])
def test_a_transposed_convolution_adds_its_bias_to_every_element(stride):
    torch.manual_seed(0)
    x, weight, bias = torch.randn(2, 9, 5, 6), torch.randn(9, 3, 1, 1), torch.randn(3)
    y = F.conv_transpose2d(x, weight, bias, stride)
    expected = bias.reshape(3, 1, 1).expand(y.shape).clone()
    expected[:, :, ::stride, ::stride] += torch.einsum("nchw,co->nohw", x, weight[:, :, 0, 0])
    torch.testing.assert_close(y, expected)


def test_what_is_infinite_reaches_only_what_its_windows_reach():
    x = torch.ones(1, 1, 4, 20)
    x[0, 0, 1, 0] = float("inf")
    weight = torch.ones(1, 1, 2, 2, requires_grad=True)
    (found,) = torch.autograd.grad(F.conv2d(x, weight), weight, torch.ones(1, 1, 3, 19))
    inf = float("inf")
    assert found.tolist() == [[[[inf, 57.0], [inf, 57.0]]]]


def test_zeros_beside_a_gradient_do_not_meet_weights_that_are_infinite():
    x = torch.ones(1, 1, 5, requires_grad=True)
    weight = torch.tensor([[[1.0, float("inf")]]])
    (found,) = torch.autograd.grad(F.conv1d(x, weight), x, torch.ones(1, 1, 4))
    assert found[0, 0, 0] == 1.0
    assert found[0, 0, 4] == float("inf")


@pytest.mark.own
def test_the_bits_are_the_same_at_any_number_of_threads():
    torch.manual_seed(0)
    x = torch.randn(2, 20, 30, 30, requires_grad=True)
    weight = torch.randn(21, 20, 3, 3, requires_grad=True)
    before, found = torch.get_num_threads(), []
    try:
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            y = F.conv2d(x, weight, padding=1)
            found.append([y, *torch.autograd.grad(y, (x, weight), torch.ones_like(y))])
    finally:
        torch.set_num_threads(before)
    for others in found[1:]:
        assert all(torch.equal(one, other) for one, other in zip(found[0], others, strict=True))
