"""Along rows and columns of every length: what kernels take together has the values of what is taken by itself."""

import math

import pytest
import rushlight as torch
from rushlight.nn import functional

INFINITY, NAN = math.inf, math.nan

# Rows that are turned, rows of several pieces, columns of several tiles, and dimensions in the middle.
SHAPES = [(3, 5), (200, 16), (9, 33), (2, 5000), (7, 3, 70), (3, 20, 5), (40, 1), (1, 40)]


def numbers(*shape, dtype=torch.float64):
    count = math.prod(shape)
    return (torch.arange(count, dtype=dtype) * 1.7).sin().mul(3).reshape(shape)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax_its_logarithm_and_their_gradients_follow_their_formulas(shape, dtype):
    for dim in range(len(shape)):
        x = numbers(*shape, dtype=dtype).requires_grad_()
        g = numbers(*shape, dtype=dtype) + 0.3
        power = x.detach().double().exp()
        soft = power / power.sum(dim, keepdim=True)
        near = {"atol": 1e-6, "rtol": 1e-5, "check_dtype": False}
        torch.testing.assert_close(x.softmax(dim), soft, **near)
        torch.testing.assert_close(x.log_softmax(dim), soft.log(), **near)
        torch.testing.assert_close(x.logsumexp(dim), power.sum(dim).log(), **near)
        (found,) = torch.autograd.grad(x.softmax(dim), x, g)
        torch.testing.assert_close(found, soft * (g - (soft * g).sum(dim, keepdim=True)), **near)
        (found,) = torch.autograd.grad(x.log_softmax(dim), x, g)
        torch.testing.assert_close(found, g - soft * g.sum(dim, keepdim=True), **near)


@pytest.mark.parametrize("beside", [1, 70])
@pytest.mark.parametrize(
    "row", [[1.0, NAN, 2.0], [-INFINITY] * 3, [-INFINITY, 1.0, 1.0], [INFINITY, 1.0, 2.0]]
)
def test_what_is_infinite_or_no_number_shows_in_rows_and_columns(row, beside):
    x = torch.tensor(row).expand(beside, 3).contiguous()
    power = torch.tensor([0.0 if e == -INFINITY else 0.5 for e in row])
    has_values = row == [-INFINITY, 1.0, 1.0]
    for values in (x, x.t().contiguous()):
        dim = 1 if values is x else 0
        soft = values.softmax(dim)
        expected = power if has_values else torch.full((3,), NAN)
        expected = expected.expand(beside, 3)
        expected = expected if values is x else expected.t()
        torch.testing.assert_close(soft, expected, equal_nan=True)
        total = values.logsumexp(dim)
        single = NAN if any(e != e for e in row) else max(row) + (math.log(2) if has_values else 0)
        torch.testing.assert_close(total, torch.full((beside,), single), equal_nan=True)


def test_sums_of_exponentials_run_over_several_dimensions():
    x = numbers(4, 5, 6, 7)
    for dims in [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (0, 1, 2, 3)]:
        torch.testing.assert_close(x.logsumexp(dims), x.exp().sum(dims).log())


@pytest.mark.parametrize("shape", [(1000, 3), (4096, 16), (130, 700), (5, 200, 9), (2, 2, 2)])
def test_sums_and_extremes_of_leading_dimensions_are_those_of_columns(shape):
    x = numbers(*shape)
    flat = x.movedim(0, -1).contiguous()
    torch.testing.assert_close(x.sum(0), flat.sum(-1))
    torch.testing.assert_close(x.amax(0), flat.amax(-1))
    torch.testing.assert_close(x.amin(0), flat.amin(-1))
    x[0] = NAN
    assert x.sum(0).isnan().all() and x.amax(0).isnan().all() and x.amin(-1)[0].isnan().all()


@pytest.mark.parametrize("shape", [(9, 5), (3, 4, 6), (1, 7), (8, 1)])
def test_running_sums_and_products_go_back_on_their_way_back(shape):
    for dim in range(len(shape)):
        x = (numbers(*shape) + 4).requires_grad_()
        g = numbers(*shape) - 0.2
        (found,) = torch.autograd.grad(x.cumsum(dim), x, g)
        torch.testing.assert_close(found, g.flip(dim).cumsum(dim).flip(dim))
        y = x.cumprod(dim)
        (found,) = torch.autograd.grad(y, x, g)
        torch.testing.assert_close(found, (y * g).flip(dim).cumsum(dim).flip(dim).detach() / x.detach())
        logs = x.detach().logcumsumexp(dim)
        torch.testing.assert_close(logs, x.detach().exp().cumsum(dim).log())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
@pytest.mark.parametrize("shape", [(9, 33), (7, 3, 70), (300, 20), (1, 40)])
def test_running_extremes_are_those_of_all_before_and_stand_where_they_were_met_last(shape, dtype):
    x = (numbers(*shape) * 4).round().to(dtype)
    if dtype.is_floating_point:
        x[0, -2:] = NAN
    for dim in range(len(shape)):
        for found, extreme in ((x.cummax(dim), torch.amax), (x.cummin(dim), torch.amin)):
            before = [extreme(x.narrow(dim, 0, end), dim) for end in range(1, shape[dim] + 1)]
            assert found.values.isnan().equal(torch.stack(before, dim).isnan())
            assert found.values.nan_to_num().equal(torch.stack(before, dim).nan_to_num())
            assert x.gather(dim, found.indices).nan_to_num().equal(found.values.nan_to_num())
            steps = torch.arange(shape[dim]).reshape([-1] + [1] * (len(shape) - dim - 1)).expand(shape)
            is_new = (x == found.values) | x.isnan()
            assert found.indices.equal(torch.where(is_new, steps, 0).cummax(dim).values)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_a_few_of_the_greatest_are_the_first_of_all_in_order(dtype):
    x = (numbers(20, 300) * 10).round().to(dtype)
    for count in (1, 3, 16, 17, 299, 300):
        for greatest in (True, False):
            values, index = x.topk(count, 1, greatest)
            assert values.equal(x.sort(1, descending=greatest).values[:, :count])
            assert values.equal(x.gather(1, index)) and all(len(set(row)) == count for row in index.tolist())
    assert x.kthvalue(7, 1).values.equal(x.sort(1).values[:, 6])


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_of_classes_and_their_gradients_pick_what_targets_say(reduction, weighted):
    for shape in [(6, 4), (5, 4, 3, 2), (4,)]:
        x = numbers(*shape).requires_grad_()
        dim = min(1, len(shape) - 1)
        target = torch.arange(math.prod(shape) // 4).reshape([*shape[:dim], *shape[dim + 1 :]]) % 4
        weight = torch.tensor([0.5, 2.0, 0.0, 1.5], dtype=torch.float64) if weighted else None
        loss = functional.nll_loss(x, target, weight, ignore_index=3, reduction=reduction)
        counts = (target != 3).double() * (1 if weight is None else weight[target])
        losses = -x.movedim(dim, -1).gather(-1, target.unsqueeze(-1)).squeeze(-1) * counts
        expected = losses if reduction == "none" else losses.sum()
        expected = expected / counts.sum() if reduction == "mean" else expected
        torch.testing.assert_close(loss, expected)
        g = torch.full_like(loss, 1.5)
        (found,) = torch.autograd.grad(loss, x, g)
        torch.testing.assert_close(found, torch.autograd.grad(expected, x, g)[0])


def test_rows_over_the_root_of_their_mean_square_are_the_same_when_they_are_recorded():
    x, weight = numbers(5, 50), numbers(50)
    for arguments in ((), (weight,), (None, 0.5)):
        recorded = functional.rms_norm(x.clone().requires_grad_(), (50,), *arguments)
        torch.testing.assert_close(functional.rms_norm(x, (50,), *arguments), recorded.detach())
    assert functional.rms_norm(numbers(50, 50).t(), (50,)).stride() == (50, 1)


def test_groups_that_are_far_from_zero_keep_their_deviation():
    x = numbers(2, 6, 40) + 1e6 + torch.arange(12, dtype=torch.float64).reshape(2, 6, 1) * 100
    for groups in (1, 2, 6):
        set_of = x.reshape(2, groups, -1)
        expected = (set_of - set_of.mean(2, keepdim=True)) / (
            set_of.var(2, keepdim=True, correction=0) + 1e-5
        ).sqrt()
        torch.testing.assert_close(
            functional.group_norm(x, groups), expected.reshape(x.shape), atol=1e-7, rtol=1e-6
        )


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.float32, torch.complex128])
def test_a_few_columns_become_rows_in_their_order(dtype):
    for count in (2, 3, 4, 5):
        x = torch.arange(7 * count * 33).reshape(7, count, 33).to(dtype)
        rows = torch.stack([x[:, column] for column in range(count)], 2)
        assert torch.equal(x.transpose(1, 2).contiguous(), rows)
        assert torch.equal(x[:, :, 1::2].transpose(1, 2).contiguous(), rows[:, 1::2])


def test_integers_are_multiplied_however_the_second_factor_lies():
    a, b = torch.arange(6 * 40).reshape(6, 40) % 11 - 5, torch.arange(70 * 40).reshape(70, 40) % 13 - 6
    for dtype in (torch.int8, torch.int32, torch.int64):
        x, y = a.to(dtype), b.to(dtype)
        expected = (x.double() @ y.double().t()).to(torch.int64).to(dtype)
        assert torch.equal(x @ y.t(), expected) and torch.equal(x @ y.t().contiguous(), expected)
        assert torch.equal(x[:, ::2] @ y[:, ::2].t(), x[:, ::2].contiguous() @ y[:, ::2].contiguous().t())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_powers_of_half_types_are_those_of_wider_ones_rounded(dtype):
    x = (torch.arange(1, 200) * 0.03).to(dtype)
    for exponent in (2, 3, 0.5, -0.5, -1, -2, 1.5):
        assert torch.equal(x**exponent, (x.float() ** exponent).to(dtype)), exponent


def test_a_number_that_names_no_element_is_told_wherever_it_stands():
    x, index = torch.arange(5.0), torch.arange(3000) % 5 - 5
    assert torch.equal(x.take(index), x[index])
    for place, wrong in [(0, 5), (1023, -6), (1024, 7), (2999, -(2**63)), (2999, 2**63 - 1)]:
        named = index.clone()
        named[place] = wrong
        with pytest.raises(IndexError, match=str(wrong)):
            x.take(named)
