"""Elements that are moved, converted and looked for many at a time are those that each of them is by itself."""

import itertools
import math

import pytest
import rushlight as torch

KINDS = [
    torch.bool,
    torch.uint8,
    torch.int16,
    torch.float16,
    torch.int32,
    torch.float32,
    torch.float64,
    torch.complex128,
]


def shown(window):
    """What a window shows of numbers that count up, found by its strides."""
    places = itertools.product(*map(range, window.shape))
    start = window.storage_offset()
    return [start + sum(map(int.__mul__, place, window.stride())) for place in places]


def windows(base):
    yield base.t()
    yield base.t()[1:-1, ::2]
    yield base[::3, 5:]
    yield base.view(10, 13, 7, 10).permute(3, 1, 0, 2)
    yield base.view(10, 13, 7, 10).permute(0, 3, 2, 1)
    yield base[:, :7]
    yield base[:20, None, :9].expand(20, 30, 9)
    yield base[:40, 3][:, None].expand(40, 33)


@pytest.mark.parametrize("dtype", KINDS)
def test_a_copy_of_any_window_has_its_elements(dtype):
    numbers = torch.arange(130 * 70).view(130, 70)
    for counted, window in zip(windows(numbers), windows(numbers.to(dtype)), strict=True):
        expected = torch.tensor(shown(counted)).to(dtype).view(window.shape)
        assert window.contiguous().equal(expected)
        assert window.flip(0, -1).equal(expected.flip(0).flip(-1))
        assert torch.cat([window, window], -1)[..., window.shape[-1] :].equal(expected)
        room = torch.zeros(window.shape[::-1], dtype=dtype).permute(*reversed(range(window.ndim)))
        room.copy_(window)
        assert room.equal(expected)


def test_windows_in_different_orders_are_added_element_by_element():
    numbers = torch.arange(130 * 70.0).view(130, 70)
    for window in windows(numbers):
        dense = torch.tensor(shown(window), dtype=torch.float32).view(window.shape)
        assert (window + dense).equal(dense + dense)
        assert (-window).equal(-dense)
        assert (dense.transpose(0, 1).contiguous().transpose(0, 1) - window).count_nonzero() == 0


@pytest.mark.parametrize("shape", [(3, 5), (2, 70, 33), (1, 1), (4, 0), (65, 20)])
def test_triangles_of_any_diagonal_keep_one_side_of_it(shape):
    matrix = torch.ones(shape)
    rows, columns = shape[-2:]
    ahead = torch.arange(columns) - torch.arange(rows)[:, None]
    for diagonal in (-(2**62), -4, 0, 1, columns, 2**62):
        assert matrix.tril(diagonal).equal((ahead <= diagonal).expand(shape).float())
        assert matrix.triu(diagonal).equal((ahead >= diagonal).expand(shape).float())


def test_true_elements_are_found_in_long_rows_and_short_ones():
    for shape in [(3000,), (2, 2500), (5, 7, 3), (300, 2, 1), ()]:
        mask = (torch.arange(torch.ones(shape).numel()) * 7 % 5 < 2).view(shape)
        places = [list(place) for place in itertools.product(*map(range, shape)) if mask[place]]
        assert mask.nonzero().tolist() == places
        assert mask.sum().item() == len(places)
        if shape:
            numbers = torch.arange(mask.numel()).view(shape)
            assert numbers[mask].tolist() == [numbers[tuple(place)].item() for place in places]
            assert numbers.masked_select(mask).equal(numbers[mask])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_quotient_is_rounded_down_as_it_is_alone(dtype):
    a = torch.tensor([7.0, -7.0, 1.0, 0.3, -0.0, 1e30, 6.0, -1.0, float("inf"), float("nan"), 0.6, 4e6])
    b = torch.tensor([2.0, 0.1, -0.1, 0.1, 3.0, -7e-30, 0.0, float("inf")])
    a, b = torch.broadcast_tensors(a.to(dtype)[:, None], b.to(dtype))
    together = torch.floor_divide(a, b)
    for place in itertools.product(*map(range, a.shape)):
        alone, found = torch.floor_divide(a[place], b[place]), together[place]
        assert alone.equal(found) or (alone.isnan() and found.isnan())
        assert alone.signbit().equal(found.signbit()) or alone.isnan()


def test_numbers_lose_what_is_behind_the_point_also_among_large_ones():
    numbers = [2.7, -2.7, 0.99, -0.0, 2.0**50, -(2.0**50) - 3, 2.0**60, -(2.0**62)] * 50
    for few in (numbers[:4] * 300, numbers):
        converted = torch.tensor(few, dtype=torch.float64).long()
        assert converted.tolist() == [int(number) for number in few]
    assert torch.tensor([1.9, -1.9, 300.5] * 20).int().tolist() == [1, -1, 300] * 20


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_numbers_of_half_types_are_calculated_with_as_each_is_alone(dtype):
    a = torch.linspace(-70000, 70000, 2100).to(dtype)
    b = torch.linspace(3, 1e-7, 2100).to(dtype)
    for function in (torch.add, torch.mul, torch.div, lambda a, b: a * 0.1 - b, lambda a, b: (b - 2).abs()):
        together = function(a, b)
        assert together.dtype == dtype
        for at in range(0, 2100, 37):
            assert together[at].equal(function(a[at], b[at]))


@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize(
    "shape", [(), (0,), (5,), (300,), (10_000,), (3, 0, 2), (2, 257), (2, 3, 5000), (1, 1, 1)]
)
def test_lists_have_every_element_at_its_place(shape, dtype):
    count = math.prod(shape)
    flat = torch.arange(count).to(dtype)
    python = [flat[number].item() for number in range(count)]

    def nested(sizes, numbers):
        if not sizes:
            return numbers[0]
        inner = math.prod(sizes[1:])
        return [nested(sizes[1:], numbers[place * inner : (place + 1) * inner]) for place in range(sizes[0])]

    assert flat.reshape(shape).tolist() == nested(shape, python)
    if len(shape) > 1:
        x = flat.reshape(shape).transpose(0, 1)
        assert x.tolist() == x.contiguous().tolist()
