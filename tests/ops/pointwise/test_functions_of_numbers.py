"""Functions of numbers: the same bits wherever a number lies, and derivatives in one pass."""

from __future__ import annotations

import math

import pytest
import rushlight as torch

F = torch.nn.functional

ONE = {
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": torch.tan,
    "exp": torch.exp,
    "exp2": torch.exp2,
    "expm1": torch.expm1,
    "log": torch.log,
    "log2": torch.log2,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "tanh": torch.tanh,
    "atan": torch.atan,
    "sigmoid": torch.sigmoid,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "lgamma": torch.lgamma,
    "digamma": torch.digamma,
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "mish": F.mish,
    "softplus": F.softplus,
    "elu": F.elu,
    "logsigmoid": F.logsigmoid,
}
TWO = {
    "pow": torch.pow,
    "atan2": torch.atan2,
    "hypot": torch.hypot,
    "fmod": torch.fmod,
    "remainder": torch.remainder,
}
DTYPES = [torch.float32, torch.float64]


def numbers(dtype, seed: int = 0):
    torch.manual_seed(seed)
    return torch.rand(67, 41, dtype=dtype) * 8 + 0.01


def bits(x) -> list:
    return x.contiguous().view(torch.int32 if x.dtype == torch.float32 else torch.int64).tolist()


@pytest.mark.own
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ONE)
def test_a_function_gives_the_same_bits_wherever_the_number_lies(name, dtype):
    function, x = ONE[name], numbers(dtype)
    expected = bits(function(x))
    assert bits(function(x.t()).t()) == expected
    assert bits(function(x.t().contiguous()).t()) == expected
    wide = torch.zeros(67, 82, dtype=dtype)
    wide[:, ::2] = x
    assert bits(function(wide[:, ::2])) == expected
    assert [bits(function(element)) for element in x[0]] == expected[0]
    assert bits(function(x[1:4, 3:8])) == [row[3:8] for row in expected[1:4]]


@pytest.mark.own
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["sin", "exp", "log", "tanh", "sigmoid", "erf"])
def test_a_function_in_place_gives_the_same_bits(name, dtype):
    x = numbers(dtype)
    expected = bits(ONE[name](x))
    getattr(x, name + "_")()
    assert bits(x) == expected


@pytest.mark.own
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", TWO)
def test_a_function_of_two_gives_the_same_bits_wherever_the_numbers_lie(name, dtype):
    function, x, y = TWO[name], numbers(dtype), numbers(dtype, 1)
    expected = bits(function(x, y))
    assert bits(function(x.t(), y.t()).t()) == expected
    assert bits(function(x, y.t().contiguous().t())) == expected
    assert [bits(function(a, b)) for a, b in zip(x[0], y[0], strict=True)] == expected[0]
    row = bits(function(x, y[0].expand(67, 41)))
    assert bits(function(x, y[0])) == row
    number = y[0, 0].item()
    assert bits(function(x, y[0, 0])) == bits(function(x, torch.full_like(x, number)))
    target = x.clone()
    if name != "pow":
        getattr(target, name + "_")(y)
        assert bits(target) == expected


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_angles_of_many_turns_are_reduced_exactly(dtype):
    x = [1e5, 123456.789, 1e9, 3e15, 1e22, 3e38, 0.5, -1e10]
    x = torch.tensor(x, dtype=dtype)
    exact = [float(number) for number in x]
    for function, reference in ((torch.sin, math.sin), (torch.cos, math.cos), (torch.tan, math.tan)):
        expected = torch.tensor([reference(number) for number in exact], dtype=dtype)
        torch.testing.assert_close(
            function(x), expected, rtol=1e-6 if dtype == torch.float32 else 1e-14, atol=0
        )
    limits = torch.tensor([math.inf, -math.inf, math.nan], dtype=dtype)
    assert torch.isnan(torch.sin(limits)).all() and torch.isnan(torch.tan(limits)).all()


@pytest.mark.own
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_remainders_of_large_quotients_are_exact(dtype):
    pairs = [(1e30, 3.0), (1e15, 0.7), (-1e20, 7.0), (5e7, 0.3), (3.0, math.inf), (-1e-37, 1e-38)]
    a, b = (torch.tensor([pair[side] for pair in pairs], dtype=dtype) for side in (0, 1))
    expected = [math.fmod(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert torch.fmod(a, b).tolist() == expected


ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "mish": F.mish,
    "softplus": lambda x: F.softplus(x, beta=2.0, threshold=3.0),
    "elu": lambda x: F.elu(x, alpha=0.7),
    "celu": lambda x: F.celu(x, alpha=1.3),
    "selu": F.selu,
    "logsigmoid": F.logsigmoid,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "asin": lambda x: torch.asin(x / 10),
    "acos": lambda x: torch.acos(x / 10),
    "atan": torch.atan,
}


@pytest.mark.parametrize("layout", ["in order", "transposed", "one gradient"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_gradient_in_one_pass_is_the_one_that_is_recorded(name, layout):
    torch.manual_seed(0)
    x = (torch.randn(31, 23, dtype=torch.float64) * 3).requires_grad_()
    operand = x.t() if layout == "transposed" else x
    y = ACTIVATIONS[name](operand)
    g = torch.ones(()).double().expand(y.shape) if layout == "one gradient" else torch.randn_like(y)
    (plain,) = torch.autograd.grad(y, x, g, retain_graph=True)
    (recorded,) = torch.autograd.grad(y, x, g, create_graph=True)
    torch.testing.assert_close(plain, recorded.detach(), rtol=1e-13, atol=1e-15)
    ahead = 1e-6
    slope = (ACTIVATIONS[name](operand + ahead) - ACTIVATIONS[name](operand - ahead)) / (2 * ahead) * g
    away = (x.detach().abs() > 1e-5) & ((x.detach() - 1.5).abs() > 1e-5)
    slope = slope.detach().t() if layout == "transposed" else slope.detach()
    torch.testing.assert_close(plain[away], slope[away], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradients_in_one_pass_go_on_at_limits(name):
    x = torch.tensor([math.nan, 0.0, 1e4, -1e4], requires_grad=True)
    y = ACTIVATIONS[name](x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert math.isnan(gradient[0]) or name in ("elu", "celu", "selu")
    if name not in ("asin", "acos"):
        assert torch.isfinite(gradient[1:]).all()


@pytest.mark.own
def test_chances_are_drawn_in_the_same_order_from_anywhere_in_the_stream():
    torch.manual_seed(3)
    torch.rand(1)
    together = torch.empty(1000).bernoulli_(0.3)
    torch.manual_seed(3)
    torch.rand(1)
    apart = torch.cat([torch.empty(1).bernoulli_(0.3) for _ in range(1000)])
    assert torch.equal(together, apart)
    assert 200 < int(together.sum()) < 400


def test_quantiles_are_exact_as_far_as_numbers_go():
    p = torch.tensor([5e-324, 1e-300, 1e-20, 0.1, 0.5, 0.9, 1.0 - 2.0**-53], dtype=torch.float64)
    expected = [-38.46740561714434, -37.0470962993612, -9.262340089798409, -1.2815515655446004, 0.0]
    expected += [1.2815515655446004, 8.20953615160139]
    assert torch.special.ndtri(p).tolist() == pytest.approx(expected, rel=1e-14)
    assert torch.special.ndtri(torch.tensor([0.0, 1.0])).tolist() == [-math.inf, math.inf]
    assert torch.special.ndtri(torch.tensor([-0.1, 1.1, math.nan])).isnan().all()
    with pytest.raises(NotImplementedError, match="\"ndtri_cpu\" not implemented for 'ComplexFloat'"):
        torch.special.ndtri(torch.ones(1, dtype=torch.complex64))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_modified_bessel_functions_join_where_their_series_do(dtype):
    x = torch.tensor([-30.0, -8.0, 0.0, 0.5, 8.0, 8.0000001, 50.0], dtype=dtype)
    scaled = [0.0731459464, 0.1434317818, 1.0, 0.6450352704, 0.1434317818, 0.1434317818, 0.0565616266]
    scaled_first = [-0.0719163305, -0.1341424933, 0.0, 0.1564208032, 0.1341424933, 0.1341424933, 0.0559931239]
    close = 1e-8 if dtype is torch.float64 else 1e-6
    assert torch.special.i0e(x).tolist() == pytest.approx(scaled, rel=close)
    assert torch.special.i1e(x).tolist() == pytest.approx(scaled_first, rel=close, abs=1e-12)
    for plain, of_scaled in ((torch.i0, scaled), (torch.special.i1, scaled_first)):
        expected = [y * math.exp(abs(value)) for value, y in zip(x.tolist(), of_scaled, strict=True)]
        assert plain(x).tolist() == pytest.approx(expected, rel=10 * close, abs=1e-12)
    assert torch.equal(torch.special.modified_bessel_i0(x), torch.i0(x))
    assert torch.equal(torch.special.modified_bessel_i1(x), torch.special.i1(x))


OSCILLATING = {
    "bessel_j0": [
        1.0,
        0.99999999999975,
        0.8075237981225448,
        -6.10876525973673e-17,
        -0.4018260148876399,
        0.17167427006059147,
        0.1716508071375539,
        0.1716273427913037,
        0.16702466434058316,
        -0.01338740525117933,
    ],
    "bessel_j1": [
        0.0,
        4.999999999999375e-07,
        0.4059495460788057,
        0.5191474972894667,
        -0.02724403962077989,
        0.23462211348375298,
        0.23463634685391463,
        0.23465057773647316,
        0.06683312417585005,
        0.027007281080096354,
    ],
    "bessel_y0": [
        -math.inf,
        -8.869031481659444,
        0.005628306635205559,
        0.509924383448479,
        0.023375908198718962,
        0.22350568212501876,
        0.22352148938756622,
        0.2235372942173232,
        0.06264059680938383,
        0.027016833206502867,
    ],
    "bessel_y1": [
        -math.inf,
        -636619.772372175,
        -0.8731265824563288,
        0.1027466824382596,
        0.4078200195265379,
        -0.15808478901001163,
        -0.1580604617312475,
        -0.1580361332006745,
        -0.1655116143625213,
        0.013406699502465515,
    ],
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", OSCILLATING)
def test_oscillating_bessel_functions_join_where_they_become_waves(name, dtype):
    x = torch.tensor(
        [0.0, 1e-06, 0.9, 2.404825557695773, 3.9, 7.9999, 8.0, 8.0001, 20.0, 700.25], dtype=torch.float64
    )
    function = getattr(torch.special, name)
    close = {"abs": 1e-14, "rel": 1e-13} if dtype is torch.float64 else {"abs": 3e-5, "rel": 1e-4}
    assert function(x.to(dtype)).tolist() == pytest.approx(OSCILLATING[name], **close)
    # A number is what it is by itself, and between others.
    many = torch.linspace(0.1, 30.0, 1003, dtype=dtype)
    assert torch.equal(function(many)[500::7], torch.stack([function(one) for one in many[500::7]]))
    below = function(-x.to(dtype)[1:])
    if name[-2] == "y":
        assert below.isnan().all()
    else:
        assert torch.equal(below, function(x.to(dtype)[1:]) * (1 if name[-1] == "0" else -1))
    ends = torch.tensor([math.inf, -math.inf, math.nan], dtype=dtype)
    assert function(ends).isnan().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_incomplete_gamma_functions_are_parts_of_one_wherever_they_are_summed(dtype):
    a = torch.tensor([0.1, 0.1, 0.5, 2.5, 2.5, 5.0, 5.0, 40.0, 300.0, 1.0], dtype=dtype)
    x = torch.tensor([0.01, 12.5, 4.0, 3.4, 3.75, 16.5, 17.5, 60.0, 310.0, 14.0], dtype=dtype)
    lower = [
        0.6626212599544798,
        0.9999999622000806,
        0.9953222650189527,
        0.7640554623054786,
        0.8139701663971329,
        0.9997276141655124,
        0.999875134747217,
        0.9974518076963866,
        0.7224887541718611,
        0.9999991684712809,
    ]
    upper = [
        0.3373787400455202,
        3.779991938848036e-08,
        0.004677734981047266,
        0.2359445376945214,
        0.186029833602867,
        0.00027238583448765475,
        0.00012486525278303777,
        0.0025481923036133223,
        0.2775112458281389,
        8.315287191035679e-07,
    ]
    close = 2e-12 if dtype is torch.float64 else 2e-5
    assert torch.special.gammainc(a, x).tolist() == pytest.approx(lower, rel=close)
    assert torch.special.gammaincc(a, x).tolist() == pytest.approx(upper, rel=close)
    huge = torch.tensor([1e30], dtype=dtype)
    assert torch.special.gammainc(huge / huge, huge).item() == 1.0
    assert torch.special.gammaincc(huge / huge, huge).item() == 0.0
