"""Reductions: full, by dimension, by several, kept or dropped; against numpy."""

import math

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, check_gradient, sample


def logsumexp(a, axis, keepdims):
    top = a.max(axis=axis, keepdims=True)
    result = np.log(np.exp(a - top).sum(axis=axis, keepdims=True)) + top
    return result if keepdims else result.squeeze(axis if axis is not None else tuple(range(a.ndim)))


NUMPY = {
    "sum": lambda a, axis, keepdims: a.sum(axis=axis, keepdims=keepdims),
    "mean": lambda a, axis, keepdims: a.mean(axis=axis, keepdims=keepdims),
    "amax": lambda a, axis, keepdims: a.max(axis=axis, keepdims=keepdims),
    "amin": lambda a, axis, keepdims: a.min(axis=axis, keepdims=keepdims),
    "var": lambda a, axis, keepdims: a.var(axis=axis, keepdims=keepdims, ddof=1),
    "std": lambda a, axis, keepdims: a.std(axis=axis, keepdims=keepdims, ddof=1),
    "norm": lambda a, axis, keepdims: np.sqrt((a * a).sum(axis=axis, keepdims=keepdims)),
    "logsumexp": logsumexp,
}
DIMS = [0, 1, -1, (0, 2), (0, 1, 2), (-1, 0), [1]]


def axis_of(dim):
    return tuple(dim) if isinstance(dim, (list, tuple)) else dim


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", DIMS, ids=str)
@pytest.mark.parametrize("name", NUMPY)
def test_a_reduction_by_dimensions_agrees_with_numpy(name, dim, keepdim):
    if name == "norm" and dim == (0, 1, 2):
        pytest.skip("a norm takes one dimension or two")
    values = sample(2, 3, 4)
    expected = NUMPY[name](values, axis_of(dim), keepdim)
    assert_tensor(getattr(torch.tensor(values), name)(dim=dim, keepdim=keepdim), expected)
    assert_tensor(getattr(torch, name)(torch.tensor(values), dim=dim, keepdim=keepdim), expected)


@pytest.mark.parametrize("name", [name for name in NUMPY if name != "logsumexp"])
def test_a_full_reduction_agrees_with_numpy(name):
    values = sample(2, 3, 4)
    assert_tensor(getattr(torch, name)(torch.tensor(values)), NUMPY[name](values, None, False))
    assert_tensor(getattr(torch.tensor(values).transpose(0, 2), name)(), NUMPY[name](values, None, False))
    assert_tensor(getattr(torch.tensor(values)[:, ::2], name)(), NUMPY[name](values[:, ::2], None, False))


@pytest.mark.parametrize("dim", [0, -1, (0, 2)], ids=str)
@pytest.mark.parametrize("name", NUMPY)
def test_gradients_of_reductions_by_dimensions_agree_with_differences(name, dim):
    check_gradient(lambda x: getattr(x, name)(dim=dim), sample(2, 3, 4))
    check_gradient(lambda x: getattr(x, name)(dim=dim, keepdim=True), sample(2, 3, 4))


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "var", "std", "norm", "prod", "max", "min"])
def test_gradients_of_full_reductions_agree_with_differences(name):
    check_gradient(lambda x: getattr(x, name)(), sample(2, 3))


@pytest.mark.parametrize("name", ["max", "min"])
def test_max_and_min_by_dimension_give_values_and_indices(name):
    values = sample(3, 4)
    for dim, keepdim in [(0, False), (1, False), (-1, True)]:
        result = getattr(torch.tensor(values), name)(dim, keepdim)
        best = getattr(values, name)(axis=dim, keepdims=keepdim)
        assert_tensor(result.values, best)
        assert_tensor(result.indices, getattr(values, "arg" + name)(axis=dim, keepdims=keepdim), torch.int64)
        assert_tensor(result[0], best)
        one, two = result
        assert one is result[0] and two is result[1]
    check_gradient(lambda x: getattr(x, name)(1)[0], values)


def test_the_named_pair_shows_its_fields():
    assert (
        repr(torch.tensor([1, 3, 2]).max(0))
        == "torch.return_types.max(\nvalues=tensor(3),\nindices=tensor(1))"
    )


def test_max_of_two_tensors_is_maximum():
    assert torch.max(torch.tensor([1, 5]), torch.tensor([3, 2])).tolist() == [3, 5]
    assert torch.min(torch.tensor([1, 5]), torch.tensor([3, 2])).tolist() == [1, 2]


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_of_extremes_are_those_that_numpy_finds(name):
    values = sample(3, 4)
    x = torch.tensor(values)
    function = getattr(np, name)
    assert getattr(x, name)().item() == function(values)
    assert_tensor(getattr(x, name)(0), function(values, axis=0), torch.int64)
    assert_tensor(getattr(x, name)(dim=1, keepdim=True), function(values, axis=1, keepdims=True))
    assert_tensor(getattr(torch, name)(x.t(), -1), function(values.T, axis=-1))


def test_the_first_of_equal_extremes_wins():
    x = torch.tensor([2, 7, 7, 2])
    assert x.argmax().item() == 1 and x.argmin().item() == 0
    assert x.max(0).indices.item() == 1 and x.min(0).indices.item() == 0


def test_a_full_max_splits_its_gradient_among_equals_and_one_by_dimension_does_not():
    x = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
    for function, expected in [
        (lambda: x.max(), [0.0, 0.5, 0.5]),
        (lambda: x.amax(), [0.0, 0.5, 0.5]),
        (lambda: x.max(0)[0], [0.0, 1.0, 0.0]),
    ]:
        (g,) = torch.autograd.grad(function(), x)
        assert g.tolist() == expected


def test_nan_is_the_extreme():
    x = torch.tensor([1.0, float("nan"), 3.0])
    assert x.max().isnan().item() and x.min().isnan().item() and x.amax(0).isnan().item()
    assert x.argmax().item() == 1 and x.max(0).indices.item() == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("size", [31, 32, 70, 500, 4097, 70_001])
def test_extremes_of_rows_are_found_wherever_they_stand(size, dtype):
    x = torch.linspace(-1.0, 1.0, size, dtype=dtype).flip(0).repeat(3, 1)
    for place in (0, size // 2, size - 1):
        for extreme in (float("inf"), -float("inf"), float("nan"), 7.0):
            y = x.clone()
            y[1, place] = extreme
            expected = y.numpy()
            for found, wanted in ((y.amax(1), expected.max(1)), (y.amin(1), expected.min(1))):
                np.testing.assert_array_equal(found.numpy(), wanted)
            for found, wanted in ((y[1].max(), expected[1].max()), (y.min(), expected.min())):
                np.testing.assert_array_equal(found.numpy(), wanted)
            assert y.max(1).indices.tolist() == expected.argmax(1).tolist()
            np.testing.assert_array_equal(y.t().amax(0).numpy(), expected.max(1))


def test_prod_has_a_gradient_also_with_zeros():
    values = sample(2, 3)
    assert_tensor(torch.tensor(values).prod(), values.prod())
    assert_tensor(torch.tensor(values).prod(1, keepdim=True), values.prod(1, keepdims=True))
    check_gradient(lambda x: x.prod(0), values)
    for zeros in ([0], [0, 2], [0, 1, 2]):
        with_zeros = np.array([2.0, 3.0, 4.0])
        with_zeros[zeros] = 0
        check_gradient(lambda x: x.prod(), with_zeros)
        check_gradient(lambda x: x.prod(0), with_zeros)


def test_any_and_all_agree_with_numpy():
    mask = sample(3, 4) > 0.5
    x = torch.tensor(mask)
    assert x.any().item() == mask.any() and x.all().item() == mask.all()
    assert_tensor(x.any(0), mask.any(0), torch.bool)
    assert_tensor(x.all(dim=1, keepdim=True), mask.all(1, keepdims=True), torch.bool)
    assert torch.tensor([0.0, 2.0]).any().item() is True and torch.tensor([0.0, 2.0]).all().item() is False


@pytest.mark.parametrize("correction", [0, 1, 2])
def test_var_and_std_with_a_correction_agree_with_numpy(correction):
    values = sample(4, 5)
    x = torch.tensor(values)
    assert_tensor(x.var(correction=correction), values.var(ddof=correction))
    assert_tensor(x.std(0, correction=correction), values.std(0, ddof=correction))
    check_gradient(lambda v: v.var(1, correction=correction), values)


def test_unbiased_is_the_older_name_of_the_correction():
    x = torch.tensor(sample(6))
    assert torch.equal(x.var(unbiased=False), x.var(correction=0))
    assert torch.equal(x.std(0, unbiased=True), x.std(0, correction=1))
    assert torch.equal(x.var(False), x.var(correction=0))


@pytest.mark.parametrize("p", [1, 2, 3, 0, float("inf"), float("-inf"), 0.5])
def test_norms_of_every_order_agree_with_numpy(p):
    values = sample(3, 4)
    x = torch.tensor(values)
    assert_tensor(x.norm(p), np.linalg.norm(values.ravel(), p))
    assert_tensor(x.norm(p, dim=1), np.linalg.norm(values, p, axis=1))
    assert_tensor(x.norm(p, dim=0, keepdim=True), np.linalg.norm(values, p, axis=0, keepdims=True))
    if p != 0:
        check_gradient(lambda v: v.norm(p), values)


def test_the_norm_of_zero_has_the_gradient_zero():
    x = torch.zeros(3, requires_grad=True)
    x.norm().backward()
    assert x.grad.tolist() == [0.0] * 3


def test_logsumexp_does_not_overflow():
    x = torch.tensor([1000.0, 1000.0], dtype=torch.float64)
    assert_tensor(x.logsumexp(0), 1000 + np.log(2))
    assert torch.tensor([-float("inf")] * 2).logsumexp(0).item() == -float("inf")


def test_sums_of_many_small_numbers_are_accurate():
    x = torch.full((1_000_000,), 0.1)
    assert abs(x.sum().item() - 100000.0015) < 0.05
    assert abs(x.mean().item() - 0.1) < 1e-6


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sum", 0.0),
        ("prod", 1.0),
        ("mean", np.nan),
        ("var", np.nan),
        ("norm", 0.0),
        ("any", False),
        ("all", True),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_nothing_is_reduced_to_what_changes_nothing(name, expected):
    x = torch.empty(0, dtype=torch.float64)
    np.testing.assert_equal(getattr(x, name)().item(), expected)
    y = torch.empty(0, 3, dtype=torch.float64)
    assert getattr(y, name)(dim=0).shape == (3,)
    assert getattr(y, name)(dim=1).shape == (0,)


def test_a_scalar_reduces_to_itself():
    x = torch.tensor(3.0)
    assert x.sum(0).item() == x.max().item() == x.mean(-1).item() == x.logsumexp(0).item() == 3.0
    assert x.argmax().item() == 0 and x.max(0).indices.item() == 0


def test_an_empty_list_of_dimensions_means_all():
    x = torch.ones(2, 3)
    assert x.sum(dim=[]).item() == 6 and x.sum(dim=()).item() == 6 and x.sum(None).item() == 6


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool, torch.complex64]
)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (300, 401), (70_000,)])
def test_what_is_not_zero_is_counted_wherever_it_lies(dtype, shape):
    count = math.prod(shape)
    x = (torch.arange(count) % 3).view(shape).to(dtype)
    assert torch.count_nonzero(x).item() == count - (count + 2) // 3
    if len(shape) == 2:
        assert torch.count_nonzero(x.t()[1:]).item() == torch.count_nonzero(x[:, 1:].contiguous()).item()
        assert torch.count_nonzero(x, 1).sum() == torch.count_nonzero(x)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize("shape, dim", [((300,), 0), ((7, 9), 1), ((7, 9), 0), ((2, 70_000), 1), ((4, 0), 1)])
def test_parts_of_complex_numbers_are_summed_along_together(dtype, shape, dim):
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=dtype)
    found = x.cumsum(dim)
    wanted = torch.complex(x.real.contiguous().cumsum(dim), x.imag.contiguous().cumsum(dim))
    assert torch.equal(found, wanted)
    x = x.detach().requires_grad_()
    x.cumsum(dim).real.sum().backward()
    line = torch.arange(shape[dim], 0, -1, dtype=x.real.dtype)
    assert torch.equal(
        x.grad.real, line.view([-1 if at == dim else 1 for at in range(len(shape))]).expand(shape)
    )
