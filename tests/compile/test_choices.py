"""Comparisons, logic, choices and bounds of few elements: computed into memory that is kept, with the bits of eager."""

import pytest
import rushlight as torch
from compiling import run_both

pytestmark = pytest.mark.own

SPECIAL = [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1e-45, 0.5, -2.0]
TYPES = [torch.float32, torch.float64, torch.int64]


def both(make, calls=8):
    compiled = run_both(make, calls)
    assert len(compiled.programs) == 1, compiled.reason
    return compiled


def numbers(dtype, count):
    found = torch.tensor((SPECIAL * (count // len(SPECIAL) + 1))[:count])
    return (torch.arange(count) % 5 - 2) if dtype is torch.int64 else found.to(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("count", [1, 3, 8, 255, 256, 257])
def test_answers_and_choices_are_those_of_eager(dtype, count):
    def make():
        x, y = numbers(dtype, count), numbers(dtype, count).flip(0)
        one = x[:1] * 0

        def function(x):
            asked = [x == y, x != y, x < y, x <= y, x > y, x >= y, x > 0, x <= one, one < x, x < 1]
            logic = torch.logical_and(asked[2], asked[6]), asked[0].logical_or(asked[9]), asked[1] ^ asked[5]
            chosen = [torch.where(mask, x, y) for mask in (*asked, *logic)]
            filled = [x.masked_fill(mask, 3) for mask in asked]
            alone = torch.where(asked[3], one, y), torch.where((one == 0), x, y), torch.where(asked[4], 1, x)
            return sum(value * 2 for value in [*chosen, *filled, *alone]), asked[8]

        return function, lambda number: (x + number,), (x, y)

    both(make)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("count", [1, 8, 1024, 5000])
def test_bounds_are_those_of_eager(dtype, count):
    def make():
        x = numbers(dtype, count)
        none = float("nan")

        def function(x):
            bounded = [x.clamp(-1, 0.25), x.clamp(min=0), x.clamp_max(0.25), x.clamp(2, -2), x.clamp(none, 1)]
            return sum(value * 2 for value in bounded), x.clamp_min(-0.0) * 1

        return function, lambda number: (x + number,), (x,)

    both(make)


def test_sizes_that_are_repeated_are_computed_as_ever():
    def make():
        x, row, column = torch.randn(4, 3), torch.randn(3), torch.randn(4, 1)

        def function(x):
            mask = x > row
            turned = (x.t() < column.t()).t()
            return torch.where(mask & turned, row, x) * 2 + x.masked_fill(column > 0, 1.0), mask | (
                column > row
            )

        return function, lambda number: (x * number,), (x, row, column)

    both(make)


def test_gradients_go_where_elements_were_chosen():
    def make():
        w = torch.randn(6, requires_grad=True)

        def step(x):
            w.grad = None
            chosen = torch.where(w > x, w * x, w.clamp(-0.5, 0.5)) + w.clamp(min=x).masked_fill(x < 0, 0.0)
            loss = torch.maximum(chosen, w).minimum(x).sum() + w.abs().max()
            loss.backward()
            return loss.detach()

        return step, lambda number: (torch.randn(6),), (w,)

    both(make, 20)


def test_they_are_computed_into_memory_that_is_kept():
    def function(x, y):
        mask = torch.logical_and(x > y, x < 2.0)
        return torch.where(mask, x, y).clamp(0, 1).masked_fill(mask, 0.5) * 2

    compiled = torch.compile(function)
    for _ in range(6):
        compiled(torch.randn(5), torch.randn(5))
    groups = [(name, is_kept) for name, _, is_kept in compiled.programs[0].groups()]
    expected = ["gt", "lt", "logical_and", "WhereBackward0", "ClampBackward1", "MaskedFillBackward0"]
    assert [name for name, _ in groups[:-1]] == expected
    assert all(is_kept for _, is_kept in groups[:-1])


def test_constants_are_left_behind():
    def make():
        w = torch.randn(3, requires_grad=True)

        def step(x):
            w.grad = None
            (w.round() * x).sum().backward()
            return torch.zeros(3), torch.full((2,), 4.0), w.grad

        return step, lambda number: (torch.randn(3),), (w,)

    both(make)


def test_constants_that_are_left_behind_are_the_callers_own():
    compiled = torch.compile(lambda x: (torch.ones(3), x * 2))
    for _ in range(9):
        found = compiled(torch.ones(3))[0]
        assert found.tolist() == [1.0, 1.0, 1.0]
        found.mul_(5)
    assert compiled.programs


@pytest.mark.parametrize("name", ["trace", "median"])
def test_what_is_filled_in_on_the_way_back_is_recorded(name):
    def make():
        w = torch.randn(3, 3, requires_grad=True)

        def step(x):
            w.grad = None
            loss = getattr(w * x, name)()
            loss.backward()
            return loss.detach()

        return step, lambda number: (torch.randn(3, 3),), (w,)

    both(make)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_what_an_index_names_is_that_of_eager(dtype):
    def make():
        x = torch.randn(5, 4, 3).mul(9).to(dtype)

        def function(place):
            row, turned = place % 5, place % 4 - 4
            own = (place % 3).expand(5, 4, 2).contiguous()
            sums = [x[row].sum(0), x[:, turned].sum((0, 1)), x.index_select(2, place % 3).sum((0, 1))]
            table = x.view(20, 3)
            return (
                sum((one * 2).sum() for one in sums),
                torch.nn.functional.embedding(place.view(1, 2), table) * 2,
                x.gather(2, own) * 2,
                x.gather(1, (place % 4)[:, None].expand(5, 2, 3).contiguous()) * 2,
                x.gather(0, own[:1, :, :1].contiguous()) * 2,
                x[row, turned] * 2,
            )

        return function, lambda number: (torch.tensor([number % 5, (number * 7) % 20]),), (x,)

    both(make, 20)


def test_an_index_that_is_not_there_undoes_what_was_done():
    total = torch.zeros(3)
    table = torch.arange(6.0).view(2, 3)

    @torch.compile
    def function(index):
        total.add_(1)
        found = table[index] * 2
        total.add_(found.sum())
        return found

    for _ in range(8):
        function(torch.tensor([0, 1, -1]))
    assert function.programs
    before = total.clone()
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        function(torch.tensor([0, 7, 1]))
    assert torch.equal(total, before + 1)


def test_gradients_come_back_by_an_index():
    def make():
        w = torch.randn(4, 3, requires_grad=True)

        def step(index):
            w.grad = None
            picked = w.tanh()[index].square().sum() + w.exp().gather(1, index[:, None]).sum()
            loss = picked + torch.nn.functional.embedding(index, w).sin().sum()
            loss.backward()
            return loss.detach()

        return step, lambda number: (torch.randint(0, 3, (4,)),), (w,)

    both(make, 20)


def test_inner_products_of_rows_and_of_columns_are_those_of_eager():
    def make():
        w = torch.randn(4, 4)

        def function(x):
            return (
                (w[0] @ x) * 2,
                (w[:, 1] @ x) * 2,
                torch.dot(x, w[:, 2].contiguous()) * 2,
                x[:0].dot(x[:0]) * 2,
            )

        return function, lambda number: (torch.randn(4),), (w,)

    both(make)
