"""Sizes at which a careless way takes hours, or more memory than there is."""

import pytest
import rushlight as torch
from support import run_script

F = torch.nn.functional


@pytest.mark.own
def test_sums_over_what_is_repeated_are_products():
    many = 2**42
    assert torch.ones(()).expand(many).sum().item() == float(many)
    assert torch.full((1,), 3).expand(many).sum().item() == 3 * many
    assert torch.full((1,), 2**60).expand(many).sum().item() == 0
    assert torch.tensor(True).expand(many).sum().item() == many
    x = torch.tensor([[1.5], [-2.0]], requires_grad=True)
    wide = x.expand(2, many)
    assert wide.sum(1).tolist() == [1.5 * many, -2.0 * many]
    assert wide.mean(1).tolist() == [1.5, -2.0]
    assert wide.sum().item() == -0.5 * many
    assert torch.tensor(1 + 2j).expand(many).sum().item() == complex(many, 2 * many)
    assert torch.tensor(float("inf")).expand(many).sum().item() == float("inf")
    assert torch.tensor(float("nan")).expand(many).mean().isnan()


def test_sums_over_a_few_repeated_elements_are_as_they_are():
    x = torch.tensor([[0.1], [0.7]])
    assert torch.allclose(x.expand(2, 10).sum(1), x.expand(2, 10).contiguous().sum(1))
    assert x.expand(2, 0).sum().item() == 0


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")])
def test_distances_of_many_rows_are_those_of_each(p):
    torch.manual_seed(0)
    a = torch.randn(2, 1, 70, 90, dtype=torch.float64, requires_grad=True)
    b = torch.randn(3, 200, 90, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(2, 3, 70, 200, dtype=torch.float64)
    mode = "donot_use_mm_for_euclid_dist"
    found = torch.cdist(a, b, p=p, compute_mode=mode)
    gradients = torch.autograd.grad((found * weights).sum(), (a, b))
    apart = a.unsqueeze(-2) - b.unsqueeze(-3)
    expected = torch.linalg.vector_norm(apart, p, dim=-1)
    assert torch.allclose(found, expected)
    if p > 0:
        wanted = torch.autograd.grad((expected * weights).sum(), (a, b))
        for gradient, other in zip(gradients, wanted, strict=True):
            assert torch.allclose(gradient, other)


@pytest.mark.own
def test_distances_need_no_memory_for_all_differences():
    run_script(
        """
import resource
x = torch.rand(1000, 1000, requires_grad=True)
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30,) * 2)
torch.cdist(x, x, p=1.5).sum().backward()
assert x.grad.isfinite().all()
""",
        timeout=300,
    )


def test_volumes_of_nearest_elements_keep_signs_of_zero():
    x = torch.tensor([-0.0, 1.0]).reshape(1, 1, 1, 1, 2)
    y = F.interpolate(x, scale_factor=2.0)
    assert y.shape == (1, 1, 2, 2, 4)
    assert y.signbit()[0, 0, 1, 1].tolist() == [True, True, False, False]


def test_long_lanes_are_sorted_as_short_ones():
    torch.manual_seed(0)
    x = torch.randint(-500, 500, (150_000,)).double()
    x[1000::7000] = float("nan")
    values, places = x.sort(stable=True)
    assert values[:-22].diff().min() >= 0
    assert values[-22:].isnan().all()
    assert torch.equal(x[places].nan_to_num(9999.0), values.nan_to_num(9999.0))
    same = values[1:] == values[:-1]
    assert (places.diff()[same] > 0).all()
    down, _ = x.sort(descending=True)
    assert torch.equal(down.nan_to_num(9999.0), values.flip(0).nan_to_num(9999.0))
    assert torch.equal(x.nan_to_num(9999.0).topk(50)[0], down[:50].nan_to_num(9999.0))
    assert x.median().isnan()
    assert x.nanmedian().item() == values[(150_000 - 22 - 1) // 2].item()
    numbers = x.nan_to_num(0.0)
    assert numbers.kthvalue(1234)[0] == numbers.sort()[0][1233]
    found, groups, counts = numbers.unique(return_inverse=True, return_counts=True)
    assert found.diff().min() > 0
    assert torch.equal(found[groups], numbers)
    assert counts.sum().item() == 150_000
    pairs = torch.stack([numbers, numbers.flip(0)], 1)
    rows, groups = pairs.unique(dim=0, return_inverse=True)
    assert torch.equal(rows[groups], pairs)


@pytest.mark.parametrize(
    ("dtype", "bound", "far"),
    [
        ("float32", 2.0**100, 0),
        ("float64", 2.0**900, 0),
        ("int32", 2**30, 0),
        ("int64", 2**62, 0),
        ("int64", 1000, 0),
        # The upper halves of these are all the same.
        ("int64", 2**30, 2**40),
        ("int64", 500, -(2**62)),
        ("uint8", 128, 0),
    ],
)
@pytest.mark.parametrize("count", [1500, 4000, 30_000])
def test_numbers_of_any_type_are_put_in_order_by_their_digits(dtype, bound, far, count):
    torch.manual_seed(1)
    dtype = getattr(torch, dtype)
    if dtype.is_floating_point:
        x = (torch.rand(count, dtype=torch.float64) * 2 - 1).mul(bound).to(dtype)
        x[::7], x[3::11], x[5::501], x[9::701] = 0.0, -0.0, float("inf"), -float("inf")
        x[13::301] = float("nan")
    else:
        x = torch.randint(0, bound, (count,)).to(dtype) + far
    for descending in (False, True):
        values, places = x.sort(stable=True, descending=descending)
        numbers = x.tolist()
        # What is no number is the greatest.
        key = [(number != number, 0.0 if number != number else number) for number in numbers]
        wanted = sorted(range(count), key=key.__getitem__, reverse=descending)
        assert places.tolist() == wanted
        assert str(values.tolist()) == str([numbers[place] for place in wanted])


def test_whole_exponents_are_added_to_exponents():
    def ldexp(x, exponent):
        return torch.ldexp(torch.tensor([x]), torch.tensor([exponent])).item()

    assert ldexp(1.0, 2**62) == 1.0
    assert ldexp(0.0, 200) == 0.0
    assert abs(ldexp(1e-30, 200) / 1.606938e30 - 1) < 1e-6
    assert ldexp(3.0, 2**31) == 0.0
    assert ldexp(1.5, -149) == 2.0**-148
    assert ldexp(float("inf"), -5000) == float("inf")
    assert torch.ldexp(torch.tensor([0.0]), torch.tensor([200.0])).isnan().all()
    assert torch.ldexp(torch.tensor([1]), torch.tensor([200])).item() == float("inf")
    half = torch.ldexp(torch.tensor([1.0], dtype=torch.bfloat16), torch.tensor([127]))
    assert half.dtype == torch.bfloat16
    assert half.item() == 2.0**127
    x = torch.tensor([0.0, 1e-30])
    assert x.ldexp_(torch.tensor([200, 0])).tolist()[0] == 0.0


@pytest.mark.own
@pytest.mark.parametrize(
    "call", ["x.var((0, 2))", "x.std((0, 2))", "x.logsumexp((0, 2))", "torch.var_mean(x, (0, 2))"]
)
def test_sums_around_centres_that_find_no_memory_raise(call):
    run_script(
        f"""
import resource
x = torch.ones(20, 1000, 200)
try:
    x + torch.ones(7)  # The words of errors are there from the first of them on.
except RuntimeError:
    pass
have = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (have + 2**23,) * 2)
try:
    {call}
except RuntimeError as error:
    assert "memory" in str(error), error
else:
    raise AssertionError("there was memory")
"""
    )
