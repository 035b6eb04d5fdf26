"""float16 and bfloat16: what they are, what becomes of numbers in them, what they combine to."""

import copy
import io
import pickle

import numpy as np
import pytest
import rushlight as torch
from support import raises

NAMES = ["float16", "bfloat16"]
HALVES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=NAMES)
OTHERS = [torch.bool, torch.uint8, torch.int16, torch.int64]


def made(*values, dtype):
    return torch.tensor(values, dtype=dtype)


@HALVES
def test_a_half_type_has_its_properties(dtype):
    name = "float16" if dtype is torch.float16 else "bfloat16"
    title = "Half" if dtype is torch.float16 else "BFloat16"
    assert repr(dtype) == f"torch.{name}"
    assert dtype.itemsize == 2 and dtype.is_floating_point and dtype.is_signed and not dtype.is_complex
    assert made(1.0, dtype=dtype).type() == f"torch.{title}Tensor"
    assert torch.half is torch.float16
    assert pickle.loads(pickle.dumps(dtype)) is dtype


def test_the_limits_are_those_of_the_types():
    half, brief = torch.finfo(torch.float16), torch.finfo(torch.bfloat16)
    assert (half.bits, half.max, half.min, half.eps) == (16, 65504.0, -65504.0, 2.0**-10)
    assert (half.tiny, half.smallest_normal, half.resolution) == (2.0**-14, 2.0**-14, 1e-3)
    assert (brief.max, brief.eps, brief.tiny) == (3.3895313892515355e38, 2.0**-7, 2.0**-126)
    assert repr(half) == (
        "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05, "
        "tiny=6.10352e-05, dtype=float16)"
    )
    with raises(TypeError, "torch.iinfo() requires an integer input type."):
        torch.iinfo(torch.float16)


def test_numbers_are_rounded_to_the_nearest_and_of_two_to_the_even_one():
    exact = torch.tensor([2049.0, 2051.0, 65519.0, 65520.0, 2.0**-25, 2.0**-24 * 1.5, -0.0, 1e9])
    expected = [2048.0, 2052.0, 65504.0, float("inf"), 0.0, 2.0**-23, -0.0, float("inf")]
    assert exact.half().tolist() == expected
    assert torch.tensor([257.0, 259.0, 1e9]).bfloat16().tolist() == [256.0, 260.0, 998244352.0]
    assert torch.tensor([float("nan")]).half().isnan().all()


@HALVES
def test_conversion_to_other_types_is_that_of_the_number(dtype):
    x = made(0.0, 1.5, -2.5, dtype=dtype)
    assert x.float().tolist() == [0.0, 1.5, -2.5]
    assert x.to(torch.int32).tolist() == [0, 1, -2]
    assert x.bool().tolist() == [False, True, True]
    assert x.to(torch.complex64).tolist() == [0, 1.5, -2.5]
    assert torch.tensor([2049]).to(torch.float16).item() == 2048
    assert x.to(dtype) is x and x.half().dtype is torch.float16 and x.bfloat16().dtype is torch.bfloat16


@HALVES
def test_elements_come_out_as_python_numbers(dtype):
    x = made(0.1, dtype=dtype)
    close = 0.0999755859375 if dtype is torch.float16 else 0.10009765625
    assert x.item() == close and float(x) == close and x.tolist() == [close]
    assert int(made(2.7, dtype=dtype)) == 2 and not made(0.0, dtype=dtype)


@HALVES
def test_the_text_shows_the_type_and_four_digits(dtype):
    name = "float16" if dtype is torch.float16 else "bfloat16"
    assert repr(made(1.0, 2.0, dtype=dtype)) == f"tensor([1., 2.], dtype=torch.{name})"
    assert repr(made(0.5, 0.25, dtype=dtype)) == f"tensor([0.5000, 0.2500], dtype=torch.{name})"
    torch.set_default_dtype(dtype)
    assert repr(torch.tensor([1.5])) == "tensor([1.5000])"


@HALVES
def test_promotion_follows_the_table(dtype):
    other = torch.bfloat16 if dtype is torch.float16 else torch.float16
    for integer in OTHERS:
        assert torch.promote_types(dtype, integer) is dtype
        assert (made(1.0, dtype=dtype) + torch.ones(1, dtype=integer)).dtype is dtype
    assert torch.promote_types(dtype, other) is torch.float32
    for wide in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        assert torch.promote_types(dtype, wide) is wide
        assert (made(1.0, dtype=dtype) * torch.ones(1, dtype=wide)).dtype is wide
    assert torch.can_cast(torch.float64, dtype) and not torch.can_cast(dtype, torch.int64)


@HALVES
def test_numbers_and_tensors_without_dimensions_leave_the_type_as_it_is(dtype):
    x = made(1.0, 2.0, dtype=dtype)
    for number in (2, 0.5, True, torch.tensor(0.5), torch.tensor(0.5, dtype=torch.float64)):
        assert torch.result_type(x, number) is dtype
        assert (x * number).dtype is dtype and (number + x).dtype is dtype
    assert (x[0] * torch.ones(1)).dtype is torch.float32
    assert torch.cat([x, torch.ones(1)]).dtype is torch.float32
    assert torch.where(x > 1, x, torch.ones(2)).dtype is torch.float32


def test_what_is_added_and_multiplied_is_exact_before_it_is_rounded():
    assert made(2048.0, dtype=torch.float16).add(1.0).item() == 2048
    assert made(1.0, dtype=torch.float16).mul(0.1).item() == 0.0999755859375
    # The sum is made in single precision: in halves it would stay at 2048.
    assert torch.ones(4096, dtype=torch.float16).sum().item() == 4096
    assert torch.full((300, 300), 0.01, dtype=torch.float16).mean().item() == 0.01000213623046875
    # An integer becomes a half before it is added to one.
    assert (torch.tensor([2049]) + made(1.0, dtype=torch.float16)).item() == 2048


@HALVES
def test_operations_agree_with_single_precision_rounded(dtype):
    x, y = (torch.randn(4, 6).to(dtype) for _ in range(2))
    functions = [torch.exp, torch.tanh, torch.sigmoid, torch.cos, torch.neg, torch.abs, torch.relu]
    functions += [lambda x: x.softmax(1), lambda x: x.sum(0), lambda x: x.cumsum(1), lambda x: x.amax(1)]
    functions += [lambda x: x.sort(1)[0], lambda x: x.max(), lambda x: x.clamp(-0.5, 0.5), torch.t]
    for function in functions:
        assert torch.equal(function(x), function(x.float()).to(dtype))
    for function in (torch.add, torch.mul, torch.div, torch.maximum, torch.atan2):
        assert torch.equal(function(x, y), function(x.float(), y.float()).to(dtype))
    torch.testing.assert_close(x @ y.t(), (x.float() @ y.float().t()).to(dtype))


@HALVES
def test_comparisons_and_places_are_those_of_the_numbers(dtype):
    x = made(3.0, 1.0, 2.0, 1.0, dtype=dtype)
    assert (x > 1.5).tolist() == [True, False, True, False]
    assert x.argmax().item() == 0 and x.argsort().tolist()[0] in (1, 3)
    assert (x == x.float()).all() and torch.equal(x, x.clone())
    assert x.unique().tolist() == [1.0, 2.0, 3.0]
    assert made(0.0, 2.0, dtype=dtype).nonzero().tolist() == [[1]]
    assert x.isfinite().all() and not x.isnan().any()


@HALVES
def test_writes_in_place_round_to_the_type(dtype):
    x = torch.zeros(2, 3, dtype=dtype)
    x += torch.ones(3)
    x *= 0.5
    x[0, 1] = 7
    x.t()[2].fill_(3.0)
    x[1, :2].exp_()
    expected = torch.full((2, 3), 0.5)
    expected[0, 1], expected[:, 2] = 7, 3
    expected[1, :2] = expected[1, :2].exp()
    assert torch.equal(x, expected.to(dtype))
    with raises(RuntimeError, "result type "):
        torch.ones(2, dtype=torch.int64).add_(made(1.0, 2.0, dtype=dtype))


@HALVES
def test_results_may_be_written_to_other_types(dtype):
    x = made(1.0, 2.0, dtype=dtype)
    assert torch.add(x, 1, out=torch.empty(2)).tolist() == [2.0, 3.0]
    assert torch.add(torch.ones(2), 1, out=torch.empty(2, dtype=dtype)).dtype is dtype
    assert x.sum(dtype=torch.float32).dtype is torch.float32
    assert torch.ones(2).sum(dtype=dtype).dtype is dtype
    assert x.softmax(0, dtype=torch.float64).dtype is torch.float64


@HALVES
def test_views_show_the_bits(dtype):
    one = made(1.0, dtype=dtype)
    bits = 0x3C00 if dtype is torch.float16 else 0x3F80
    assert one.view(torch.int16).item() == bits
    assert torch.tensor([bits], dtype=torch.int16).view(dtype).item() == 1.0
    assert one.view(torch.uint8).shape == (2,)


def test_numpy_shares_halves_and_has_no_bfloat16():
    array = np.array([1.0, 2.5], dtype=np.float16)
    shared = torch.from_numpy(array)
    shared[0] = 3
    assert shared.dtype is torch.float16 and array[0] == 3
    assert torch.ones(2, dtype=torch.float16).numpy().dtype == np.float16
    assert torch.tensor(np.float16(1.5)).dtype is torch.float16
    with raises(TypeError, "Got unsupported ScalarType BFloat16"):
        torch.ones(2, dtype=torch.bfloat16).numpy()


@HALVES
def test_halves_are_saved_pickled_and_copied(dtype):
    x = made(1.0, 0.1, float("inf"), dtype=dtype)
    file = io.BytesIO()
    torch.save({"x": x, "part": x[1:]}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert torch.equal(loaded["x"], x) and torch.equal(loaded["part"], x[1:])
    for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), x.clone()):
        assert other.dtype is dtype and torch.equal(other, x)


@HALVES
def test_factories_make_halves(dtype):
    assert torch.zeros(2, dtype=dtype).tolist() == [0, 0]
    assert torch.eye(2, dtype=dtype).tolist() == [[1, 0], [0, 1]]
    assert torch.arange(0, 2, 0.5, dtype=dtype).tolist() == [0, 0.5, 1, 1.5]
    assert torch.linspace(0, 1, 5, dtype=dtype).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert torch.full((2,), 3, dtype=dtype).dtype is dtype
    assert torch.ones_like(torch.ones(2), dtype=dtype).dtype is dtype
    assert torch.ones(2, dtype=dtype).new_tensor([1.0]).dtype is dtype
    assert torch.randperm(5, dtype=dtype).sort()[0].tolist() == [0, 1, 2, 3, 4]


def test_what_a_half_does_not_hold_is_refused_where_it_is_named():
    with raises(RuntimeError, "value cannot be converted to type c10::Half without overflow"):
        torch.full((2,), 70000.0, dtype=torch.float16)
    with raises(RuntimeError, "value cannot be converted to type c10::BFloat16 without overflow"):
        torch.ones(2, dtype=torch.bfloat16).fill_(1e39)
    assert torch.tensor([70000.0], dtype=torch.float16).isinf().all()


@HALVES
def test_the_default_type_may_be_a_half(dtype):
    torch.set_default_dtype(dtype)
    assert torch.get_default_dtype() is dtype
    assert torch.tensor([1.0]).dtype is dtype and torch.ones(2).dtype is dtype
    assert torch.tensor([1, 4]).sqrt().tolist() == [1, 2]
    assert (torch.tensor([1, 3]) / 2).dtype is dtype
    assert torch.logsumexp(torch.tensor([1, 2]), 0).dtype is dtype
    assert torch.nn.Linear(2, 2).weight.dtype is dtype


@pytest.mark.parametrize(
    ("draw", "half", "brief"),
    [
        (lambda t: t.uniform_(), [0.496337890625, 0.76806640625], [0.49609375, 0.76953125]),
        (lambda t: t.normal_(), [1.541015625, -0.29345703125], [1.5390625, -0.29296875]),
        (lambda t: t.random_(), [1277, 1017], [149, 179]),
        (lambda t: t.bernoulli_(0.5), None, None),
        (lambda t: t.exponential_(), None, None),
    ],
    ids=["uniform", "normal", "random", "bernoulli", "exponential"],
)
def test_random_numbers_are_those_of_single_precision_rounded(draw, half, brief):
    for dtype, expected in ((torch.float16, half), (torch.bfloat16, brief)):
        torch.manual_seed(0)
        drawn = draw(torch.empty(2, dtype=dtype))
        if expected is None:
            torch.manual_seed(0)
            expected = draw(torch.empty(2)).to(dtype).tolist()
        assert drawn.tolist() == expected


@HALVES
def test_twenty_normal_numbers_are_drawn_as_two_blocks(dtype):
    torch.manual_seed(3)
    drawn = torch.randn(20, dtype=dtype)
    torch.manual_seed(3)
    blocks = torch.randn(32)
    assert torch.equal(drawn[:4], blocks[:4].to(dtype)) and torch.equal(drawn[4:], blocks[16:].to(dtype))


@HALVES
def test_a_number_that_rounding_takes_to_the_end_of_an_interval_is_its_start(dtype):
    drawn = torch.empty(20000, dtype=dtype).uniform_(0, 1)
    assert drawn.max() < 1 and drawn.min() >= 0


@HALVES
def test_operations_that_have_to_be_exact_refuse_half_types(dtype):
    title = "Half" if dtype is torch.float16 else "BFloat16"
    x = torch.eye(2, dtype=dtype)
    with raises(NotImplementedError, f"\"cholesky_cpu\" not implemented for '{title}'"):
        torch.linalg.cholesky(x)
    with raises(RuntimeError, f"linalg.inv: Low precision dtypes not supported. Got {title}"):
        torch.linalg.inv(x)
    with raises(RuntimeError, f"Unsupported dtype {title}"):
        torch.fft.fft(x)
    with raises(RuntimeError, "quantile() input tensor must be either float or double dtype"):
        x.quantile(0.5)


@HALVES
def test_products_want_one_type(dtype):
    x = torch.ones(2, 2, dtype=dtype)
    with pytest.raises(RuntimeError, match=r"must have the same dtype|expected m1 and m2"):
        x @ torch.ones(2, 2)
    with pytest.raises(RuntimeError):
        torch.nn.functional.linear(x, torch.ones(2, 2))


@HALVES
def test_normalisation_takes_parameters_of_single_precision(dtype):
    title = "Half" if dtype is torch.float16 else "BFloat16"
    x, weight = torch.randn(4, 6).to(dtype), torch.rand(6)
    y = torch.nn.functional.layer_norm(x, (6,), weight)
    assert y.dtype is dtype
    torch.testing.assert_close(y, torch.nn.functional.layer_norm(x.float(), (6,), weight).to(dtype))
    with raises(RuntimeError, "mixed dtype (CPU): expect parameter to have scalar type of Float"):
        torch.nn.functional.layer_norm(x, (6,), weight.double())
    with raises(RuntimeError, f"expected scalar type {title} but found Float"):
        torch.nn.functional.layer_norm(x, (6,), weight.to(dtype), weight)
    with raises(RuntimeError, "mixed dtype (CPU): all inputs must share same datatype."):
        torch.nn.functional.layer_norm(x.double(), (6,), weight)


@HALVES
def test_tensors_are_close_by_what_the_type_can_tell(dtype):
    near = 1 + 2 * torch.finfo(dtype).eps / (2 if dtype is torch.float16 else 1)
    torch.testing.assert_close(made(1.0, dtype=dtype), made(near, dtype=dtype))
    with pytest.raises(AssertionError):
        torch.testing.assert_close(made(1.0, dtype=dtype), made(1.1, dtype=dtype))
