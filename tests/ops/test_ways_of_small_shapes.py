"""What is computed in another way where rows are short, columns few, elements repeated or types narrow."""

import itertools
import math

import pytest
import rushlight as torch


def _numbers(count, spread):
    return [float((at * 37 % 23) * spread - (at % 5)) for at in range(count)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8])
@pytest.mark.parametrize("length", [1, 2, 7, 16, 17, 33, 64, 65])
def test_short_rows_are_sorted_and_equal_elements_keep_their_order(dtype, length):
    rows = torch.tensor([_numbers(length, 1), _numbers(length, 9), _numbers(length, 0)]).abs().to(dtype)
    for descending in (False, True):
        values, places = rows.sort(dim=1, descending=descending, stable=True)
        for row, value, place in zip(rows.tolist(), values.tolist(), places.tolist(), strict=True):
            wanted = sorted(range(length), key=lambda at: row[at], reverse=descending)
            if descending:
                wanted = sorted(range(length), key=lambda at: -row[at])
            assert place == wanted and value == [row[at] for at in wanted]
    middle, place = rows.median(1)
    least, where = rows.kthvalue((length + 1) // 2, 1)
    assert torch.equal(middle, least) and torch.equal(place, where)
    assert middle.tolist() == [sorted(row)[(length - 1) // 2] for row in rows.tolist()]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int16, torch.bool])
@pytest.mark.parametrize(("shape", "dim"), [((40, 20), 1), ((3, 33, 12), 1), ((9, 200), 1), ((50, 70), 0)])
def test_many_short_rows_have_the_order_of_each(dtype, shape, dim):
    x = torch.tensor(_numbers(math.prod(shape), 3)).view(shape).to(dtype)
    if dtype.is_floating_point:
        some = x.view(-1)
        some[::7], some[1::13], some[2::11], some[3::17] = math.nan, -0.0, math.inf, -math.inf
        some[::5] = 0.0
    rows = x.transpose(dim, -1).reshape(-1, shape[dim])
    for descending in (False, True):
        values, places = x.sort(dim=dim, descending=descending, stable=True)
        values, places = (found.transpose(dim, -1).reshape(rows.shape) for found in (values, places))
        for row, value, place in zip(rows, values, places, strict=True):
            wanted, where = row.sort(descending=descending, stable=True)
            assert torch.equal(place, where)
            assert str(value.tolist()) == str(wanted.tolist())
    if dtype == torch.bool:
        return
    for name, given in (("kthvalue", (4,)), ("median", ()), ("nanmedian", ())):
        values, places = getattr(torch, name)(x, *given, dim)
        assert str(x.gather(dim, places.unsqueeze(dim)).flatten().tolist()) == str(values.flatten().tolist())
        for row, value in zip(rows, values.flatten(), strict=True):
            wanted = getattr(torch, name)(row, *given, 0)[0]
            assert value == wanted or (value.isnan() and wanted.isnan())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8])
@pytest.mark.parametrize("shape", [(37, 10), (1000, 10), (301, 3), (11, 50), (8, 2), (2, 100, 5)])
def test_extremes_of_short_rows_and_of_few_columns_are_the_first(dtype, shape):
    x = torch.tensor(_numbers(math.prod(shape), 1)).abs().view(shape).to(dtype)
    if dtype.is_floating_point:
        x.view(-1)[::41] = math.nan
        x.view(-1)[7::43] = -math.inf
    for dim in range(len(shape)):
        rows = x.movedim(dim, -1).reshape(-1, shape[dim]).tolist()
        for name, best in (("max", max), ("min", min)):
            values, places = getattr(x, name)(dim)
            again = getattr(x, f"arg{name}")(dim)
            assert torch.equal(places, again)
            for row, value, place in zip(
                rows,
                values.flatten().tolist(),
                places.flatten().tolist(),
                strict=True,
            ):
                unknown = [at for at, number in enumerate(row) if number != number]
                assert place == (unknown[0] if unknown else row.index(best(row)))
                assert value == row[place] or (unknown and math.isnan(value))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("spread", [0.01, 1.0, 40.0, 700.0])
def test_running_logarithms_are_those_of_sums(dtype, spread):
    x = torch.arange(600.0, dtype=torch.float64).mul(37).sin().mul(spread).to(dtype).view(2, 100, 3)
    x[0, 30, 0], x[0, :5, 1], x[1, 70, 2] = math.inf, -math.inf, math.nan
    for dim in range(3):
        found = x.logcumsumexp(dim)
        assert torch.equal(found.narrow(dim, 0, 1), x.narrow(dim, 0, 1)) or dim == 0
        for end in (1, 2, 3, 64, 65, 66, 100):
            if end <= x.shape[dim]:
                wanted = x.narrow(dim, 0, end).double().logsumexp(dim)
                place = found.select(dim, end - 1).double()
                exact = torch.finfo(dtype).eps * 4 * max(spread, 8)
                assert torch.allclose(place, wanted, rtol=0, atol=exact, equal_nan=True)


def test_long_rows_are_joined_beside_each_other():
    x = torch.arange(6000.0).view(12, 500)
    parts = [x[:, :33].contiguous(), x[:, :0], x[:, 33:100].contiguous(), x[:, 100:].contiguous()]
    assert torch.equal(torch.cat(parts, 1), x)
    assert torch.equal(torch.stack([x, x], 1)[:, 1], x)


def test_doubles_that_differ_in_their_last_digits_are_sorted():
    row = [1.0 + at % 7 * 2.0**-52 for at in range(40)] + [math.nan, -0.0, 0.0]
    places = torch.tensor([row[:16], row[-16:]], dtype=torch.float64).argsort(dim=1, stable=True).tolist()
    assert places[0] == sorted(range(16), key=lambda at: row[at])
    tail = row[-16:]
    assert places[1] == [14, 15, *sorted(range(13), key=lambda at: tail[at]), 13]


@pytest.mark.parametrize("shape", [(16, 3, 16), (1000, 10), (2, 60, 31), (3, 5, 50), (4, 2, 2), (1, 2000, 3)])
def test_columns_have_the_softmax_of_rows(shape):
    x = torch.arange(float(math.prod(shape)), dtype=torch.float64).mul(1.7).sin().mul(3).view(shape)
    for name in ("softmax", "log_softmax", "logsumexp"):
        columns = getattr(x, name)(-2)
        rows = getattr(x.transpose(-1, -2).contiguous(), name)(-1)
        rows = rows if name == "logsumexp" else rows.transpose(-1, -2)
        assert (columns - rows).abs().max() <= 1e-14
    leaf = x.clone().requires_grad_()
    (leaf.softmax(-2) * x).sum().backward()
    y = x.softmax(-2)
    assert (leaf.grad - y * (x - (x * y).sum(-2, keepdim=True))).abs().max() <= 1e-13


def test_sums_of_repeated_elements_are_products():
    x = torch.arange(20_000.0).view(100, 200)
    assert x.broadcast_to(4, 100, 200).sum().item() == 4 * x.double().sum().item()
    assert torch.equal(x.broadcast_to(4, 100, 200).sum(0), 4 * x)
    assert torch.equal(x.broadcast_to(4, 100, 200).sum((0, 2)), 4 * x.sum(1))
    assert torch.equal(x.long().broadcast_to(3, 100, 200).sum(0, keepdim=True), 3 * x.long()[None])


def test_what_is_no_number_is_left_out_of_sums():
    x = torch.arange(600.0).view(20, 30)
    x[::3, ::2] = math.nan
    zeros = torch.where(x.isnan(), 0.0, x)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for dim in (None, 0, 1, (0, 1)):
            assert torch.equal(x.to(dtype).nansum(dim), zeros.to(dtype).sum(dim))
    assert torch.equal(x.nansum(1, dtype=torch.float64), zeros.double().sum(1))
    assert torch.equal(x.nansum(1, dtype=torch.int64), zeros.long().sum(1))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_integers_are_divided_as_python_divides_them(dtype):
    ends = torch.iinfo(dtype)
    numbers = sorted({ends.min, ends.min + 1, -7, -2, -1, 0, 1, 2, 3, 7, 100, ends.max - 1, ends.max})
    numbers = [number for number in numbers if number >= ends.min]
    pairs = [(a, b) for a, b in itertools.product(numbers, numbers) if b and (a, b) != (ends.min, -1)]
    a, b = (torch.tensor(column, dtype=dtype) for column in zip(*pairs, strict=True))
    assert (a // b).tolist() == [a // b for a, b in pairs]
    assert (a % b).tolist() == [a % b for a, b in pairs]
    assert torch.fmod(a, b).tolist() == [abs(a) % abs(b) * (-1 if a < 0 else 1) for a, b in pairs]
    pairs = [(a, b) for a, b in itertools.product(numbers, numbers) if ends.min not in (a, b) or not ends.min]
    a, b = (torch.tensor(column, dtype=dtype) for column in zip(*pairs, strict=True))
    assert torch.gcd(a, b).tolist() == [math.gcd(a, b) for a, b in pairs]
    small = [(a, b) for a, b in pairs if math.lcm(a, b) <= ends.max]
    a, b = (torch.tensor(column, dtype=dtype) for column in zip(*small, strict=True))
    assert torch.lcm(a, b).tolist() == [math.lcm(a, b) for a, b in small]
    if ends.min:
        least, one = torch.tensor([ends.min], dtype=dtype), torch.tensor([-1], dtype=dtype)
        assert torch.div(least, one, rounding_mode="trunc").item() == ends.min
        assert torch.gcd(least, least).item() == ends.min


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_halves_are_raised_by_products_and_roots(dtype):
    x = torch.arange(1.0, 2000.0).div(64).to(dtype)
    for exponent in (2, 3, 0.5, -0.5, -1, -2):
        assert torch.equal(x**exponent, (x.float() ** exponent).to(dtype))


def test_roots_of_complex_numbers_far_and_near():
    parts = [0.0, -0.0, 1e-320, 1e-200, 0.3, 4.0, 1e200, math.inf, math.nan]
    parts += [-part for part in parts]
    numbers = [complex(a, b) for a, b in itertools.product(parts, parts)]
    found = torch.tensor(numbers, dtype=torch.complex128).sqrt()
    for number, root in zip(numbers, found.tolist(), strict=True):
        if math.isfinite(number.real) and math.isfinite(number.imag) and number:
            back = (root / abs(number) ** 0.5) ** 2 * abs(number)
            assert abs(back - number) <= 2e-15 * abs(number) + 1e-323
            assert root.real >= 0 and math.copysign(1, root.imag) == math.copysign(1, number.imag)


def test_a_column_goes_with_every_row():
    x = torch.arange(7000.0).view(100, 70).sin()
    column, row = x[:, 3:4].clone(), x[5].clone()
    for operation in (torch.add, torch.sub, torch.div, torch.atan2, torch.gt):
        for a, b in ((x, column), (column, x), (column, row), (row, column)):
            wide = operation(a.expand(100, 70).contiguous(), b.expand(100, 70).contiguous())
            assert torch.equal(operation(a, b), wide)
    images = torch.arange(2 * 3 * 8 * 8.0).view(2, 3, 8, 8)
    weights = torch.tensor([1.0, 2.0, 3.0]).view(3, 1, 1)
    assert torch.equal(images * weights, images * weights.expand(2, 3, 8, 8).contiguous())
    whole = torch.arange(6000).view(60, 100)
    assert torch.equal(whole[:, 1:] - whole[:, :-1], torch.ones(60, 99, dtype=torch.int64))
    assert torch.equal(whole + whole[:, :1], whole + whole[:, :1].expand(60, 100).contiguous())


def test_functions_of_bessel_and_airy():
    special = torch.special
    for dtype, bound in ((torch.float64, 2e-15), (torch.float32, 2e-7)):
        x = torch.tensor([0.1, 0.5, 1.0, 2.0, 10.0], dtype=dtype)
        for name, wanted in (
            (
                "modified_bessel_k0",
                [
                    2.4270690247020164,
                    0.92441907122766565,
                    0.42102443824070834,
                    0.11389387274953344,
                    1.7780062316167651e-05,
                ],
            ),
            (
                "modified_bessel_k1",
                [
                    9.8538447808706050,
                    1.6564411200033007,
                    0.60190723019723458,
                    0.13986588181652243,
                    1.8648773453825585e-05,
                ],
            ),
            (
                "scaled_modified_bessel_k0",
                [
                    2.6823261022628944,
                    1.5241093857739092,
                    1.1444630798068949,
                    0.84156821507077142,
                    0.39163193443659866,
                ],
            ),
            (
                "scaled_modified_bessel_k1",
                [
                    10.890182683049696,
                    2.7310097082117857,
                    1.6361534862632582,
                    1.0334768470686888,
                    0.41076657059578856,
                ],
            ),
            (
                "airy_ai",
                [
                    0.32920312994353810,
                    0.23169360648083348,
                    0.13529241631288141,
                    0.034924130423274375,
                    1.1047532552898686e-10,
                ],
            ),
            (
                "spherical_bessel_j0",
                [
                    0.99833416646828155,
                    0.95885107720840600,
                    0.84147098480789651,
                    0.45464871341284085,
                    -0.054402111088936977,
                ],
            ),
        ):
            found = getattr(special, name)(x).double().tolist()
            assert found == pytest.approx(wanted, rel=bound, abs=0)  # fmt: skip


def test_triangles_and_choices_are_listed():
    assert torch.tril_indices(2, 3, 1).tolist() == [[0, 0, 1, 1, 1], [0, 1, 0, 1, 2]]
    assert torch.triu_indices(3, 2, -1).tolist() == [[0, 0, 1, 1, 2], [0, 1, 0, 1, 1]]
    assert torch.triu_indices(2, 2, 5).shape == (2, 0) and torch.tril_indices(0, 4).shape == (2, 0)
    assert torch.tril_indices(1, 1, dtype=torch.int32).dtype == torch.int32
    x = torch.tensor([5, 6, 7])
    assert torch.combinations(x).tolist() == [[5, 6], [5, 7], [6, 7]]
    repeated = torch.combinations(x, with_replacement=True)
    assert repeated.tolist() == [[5, 5], [5, 6], [5, 7], [6, 6], [6, 7], [7, 7]]
    assert repeated.is_contiguous()
    blocks = torch.block_diag(torch.ones(1, 2), torch.tensor(3.0), torch.ones(2, 1))
    assert blocks.tolist() == [[1, 1, 0, 0], [0, 0, 3, 0], [0, 0, 0, 1], [0, 0, 0, 1]]


def test_reflections_make_the_factor_that_they_came_from():
    for dtype in (torch.float64, torch.complex128):
        a = torch.arange(48.0, dtype=torch.float64).mul(1.3).sin().view(2, 6, 4).to(dtype)
        a = a + 0.5j * a.roll(1) if dtype.is_complex else a
        packed, scales = torch.geqrf(a)
        q = torch.linalg.householder_product(packed, scales)
        assert (q @ packed.triu()[:, :4] - a).abs().max() < 1e-14
        fewer = torch.linalg.householder_product(packed, scales[:, :2])
        assert (fewer.mH @ fewer - torch.eye(4, dtype=dtype)).abs().max() < 1e-14


def test_unique_neighbours_along_the_only_dimension():
    x = torch.tensor([1.0, 1.0, 2.0, 1.0])
    assert torch.unique_consecutive(x, dim=0).tolist() == [1, 2, 1]
    assert torch.unique_consecutive(x, dim=-1).tolist() == [1, 2, 1]
    with pytest.raises(IndexError):
        torch.unique_consecutive(x, dim=1)


def test_lists_of_rows():
    x = torch.arange(24).view(2, 3, 4)
    assert x.tolist() == [
        [[at * 12 + row * 4 + column for column in range(4)] for row in range(3)] for at in range(2)
    ]
    assert torch.zeros(2, 0).tolist() == [[], []] and torch.zeros(0, 2).tolist() == []
