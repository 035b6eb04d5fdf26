"""Operations of programs as they are computed into memory that is there: of operands that lie in many ways."""

import pytest
import rushlight as torch
from compiling import run_both

pytestmark = pytest.mark.own

# Shapes of two operands that are broadcast against each other, of which each element is used several times.
BROADCAST = [
    ((9, 1, 2), (1, 9, 2)), ((9, 9, 1), (9, 9, 2)), ((9, 9, 2), (9, 9, 1)), ((5, 1, 16), (5, 7, 1)), ((2, 3, 1, 8), (3, 4, 8)),
    ((40, 1), (40, 3)), ((40, 3), (3,)), ((70, 2), (70, 1)), ((2,), (150, 2)), ((33, 1), (2,)), ((4, 1, 1), (4, 5, 7)),
    ((64, 15), (64, 1)), ((64, 17), (64, 1)), ((1, 200, 2), (50, 1, 2)), ((0, 2), (0, 1)), ((6, 1, 1, 40), (6, 1, 40, 1)),
    ((0, 40, 3), (40, 1)), ((0, 1, 50), (0, 7, 1)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shapes", BROADCAST)
def test_operands_that_are_broadcast_in_any_way_give_the_bits_of_eager(shapes, dtype):
    def make():
        a, b = (torch.randn(shape, dtype=dtype) for shape in shapes)

        def function():
            y = a - b
            z = (b * a + torch.tanh(y)) / (a + 3.0)
            return y, z, torch.exp(a) * b, torch.maximum(b, a)

        return function, lambda number: (), (a, b)

    compiled = run_both(make, 7)
    assert compiled.programs, compiled.reason


def order(dims):
    return torch.randn(6, 7, 8).double().permute(dims)


@pytest.mark.parametrize("dims", [(0, 2, 1), (2, 1, 0), (1, 2, 0)])
def test_operands_in_another_order_of_memory_give_the_bits_and_strides_of_eager(dims):
    def make():
        a, b, count = order(dims), order(dims), torch.tensor(2.0).double()

        def function():
            y = torch.exp(a * b - 2.0)
            z = -y * count
            kept = z.clone(memory_format=torch.contiguous_format)
            return y, z, kept, z.transpose(0, 1).contiguous() + 1.0

        return function, lambda number: (), (a, b)

    compiled = run_both(make, 7)
    assert compiled.programs, compiled.reason
    strides = [found.stride() for found in compiled()]
    assert strides == [found.stride() for found in make()[0]()]


@pytest.mark.parametrize("width", [3, 20])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_parts_of_rows_are_read_where_they_lie(width, dtype):
    torch.manual_seed(0)
    x, row = torch.randn(5, 2, 3 * width, dtype=dtype), torch.randn(width, dtype=dtype)
    column = torch.randn(5, 2, 1, dtype=dtype)

    def function():
        first, second, third = x.chunk(3, -1)
        both = torch.sigmoid(first) * second + row
        return ((third - both) * column).tanh().neg() + first.flip(0)

    compiled = torch.compile(function)
    for _ in range(8):
        assert torch.equal(compiled(), function())
        x.mul_(1.1)
    names = dict.fromkeys(name for name, _, kept in compiled.programs[0].groups() if not kept)
    assert list(names) == ["FlipBackward0", "AddBackward0"], "what is given is in memory of its own"


def test_gradients_of_parts_and_powers_are_computed_into_memory_that_is_kept():
    torch.manual_seed(0)
    start = torch.randn(4, 6, 3)

    def function():
        x = start.detach().requires_grad_()
        y = (x[:, 1:4] ** 2 - x[:, 2:5] ** 3).sum() + (x[:, 0] * x[1:2, 5]).sum() + (x[-1] ** 2).mean()
        y.backward()
        return x.grad

    compiled = torch.compile(function)
    for _ in range(8):
        assert torch.equal(compiled(), function())
        start.mul_(1.1)
    groups = compiled.programs[0].groups()
    names = [name for name, _, kept in groups if not kept]
    assert {name for name, _, _ in groups} >= {"PowBackward0", "SelectBackwardBackward0"}
    assert names == ["AddBackward0"], "what is given is in memory of its own"


def test_what_lies_in_another_order_is_computed_into_memory_that_is_kept():
    a, b = order((2, 1, 0)), order((2, 1, 0))
    compiled = torch.compile(lambda: torch.tanh(-(a * b)).transpose(0, 2).contiguous().sum())
    for _ in range(6):
        compiled()
    assert [kept for _, _, kept in compiled.programs[0].groups()] == [True, True, True, False]


def test_what_never_changes_is_no_operation_of_a_program():
    def make():
        weight = torch.randn(3, requires_grad=True)

        def function():
            weight.grad = None
            loss = (weight * 2).mean() * 4
            loss.backward()
            return loss

        return function, lambda number: (), (weight,)

    compiled = run_both(make, 7)
    # Beside the three of the loss: the gradient, which is left behind and new each time.
    assert len(compiled.programs[0].operations()) == 4


def test_a_constant_that_is_written_to_or_returned_is_new_each_time():
    def function():
        ones = torch.ones(3)
        twice, kept = ones * 2, ones * 3
        twice.add_(1)
        return twice, kept

    compiled = torch.compile(function)
    for _ in range(8):
        twice, kept = compiled()
        assert twice.tolist() == [3.0] * 3 and kept.tolist() == [3.0] * 3
        kept.zero_()
    assert compiled.programs, compiled.reason


@pytest.mark.parametrize("width", [2, 3, 4, 5])
def test_sums_of_short_rows_are_those_of_python(width):
    rows = torch.randn(50, width).double()
    expected = []
    for row in rows.tolist():
        total = 0.0
        for number in row:
            total += number
        expected.append(total)
    assert rows.sum(-1).tolist() == expected
    assert torch.tensor([[-0.0] * width] * 9).sum(1).tolist() == [0.0] * 9
