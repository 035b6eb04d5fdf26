"""Integers of which few differ in order, and integers beside a number, in rows and what is left of them."""

import operator

import pytest
import rushlight as torch

TYPES = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("count", [0, 1, 70, 500, 70_001])
def test_equal_integers_keep_their_order(dtype, descending, count):
    x = ((torch.arange(count) * 7919 % 103) - (50 if dtype.is_signed else 0)).to(dtype)
    values, places = x.sort(stable=True, descending=descending)
    given = x.tolist()
    expected = sorted(range(count), key=lambda place: -given[place] if descending else given[place])
    assert places.tolist() == expected
    assert values.tolist() == [given[place] for place in expected]


def test_integers_far_apart_are_in_order_beside_those_of_few_kinds():
    ends = torch.iinfo(torch.int64)
    x = torch.tensor([ends.max, 3, ends.min, 3, -1] * 300)
    assert x.sort(stable=True)[1][:302].tolist() == [*range(2, 1500, 5), 4, 9]
    assert x.sort(stable=True, descending=True)[1][:3].tolist() == [0, 5, 10]
    lines = (torch.arange(6000) * 7919 % 11).reshape(3, 2000)
    assert torch.equal(lines.sort(1)[0], torch.stack([line.sort()[0] for line in lines]))
    assert torch.equal(lines.t().sort(0)[0], lines.sort(1)[0].t())


@pytest.mark.parametrize("dtype", TYPES[:5])
@pytest.mark.parametrize("count", [0, 1, 8, 9, 1023, 1024, 1025, 200_003])
def test_a_number_goes_with_each_integer(dtype, count):
    x = (torch.arange(count) * 37 % 101).to(dtype)
    number = torch.full((count,), 3, dtype=dtype)
    for call in (operator.add, operator.mul, operator.floordiv, operator.mod, operator.lshift, operator.xor):
        assert torch.equal(call(x, 3), call(x, number))
    for call in (operator.sub, operator.eq, operator.lt, operator.and_):
        assert torch.equal(call(x, 3), call(x, number))
        assert torch.equal(call(3, x), call(number, x))
    apart = torch.arange(2 * count).to(dtype).reshape(count, 2)
    for shown in (apart[:, 0], apart.t(), apart.t()[1:]):
        wanted = (shown.contiguous() * 3).reshape(shown.shape)
        assert torch.equal(shown * 3, wanted) and torch.equal(3 * shown, wanted)
    assert (apart.t() * 3).stride() == apart.t().stride() or count < 2
