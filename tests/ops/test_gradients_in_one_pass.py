"""Gradients that become the next ones in one pass are those that are recorded, also where they are infinite."""

import math

import pytest
import rushlight as torch
from rushlight.nn import functional

PAIRS = {
    "hypot": torch.hypot,
    "atan2": torch.atan2,
    "logaddexp": torch.logaddexp,
    "logaddexp2": torch.logaddexp2,
    "xlogy": torch.xlogy,
    "xlog1py": torch.special.xlog1py,
    "pow": torch.pow,
    "huber": functional.huber_loss,
    "huber of each": lambda x, y: functional.huber_loss(x, y, reduction="none", delta=0.7),
    "smooth": functional.smooth_l1_loss,
    "smooth of each": lambda x, y: functional.smooth_l1_loss(x, y, reduction="sum", beta=0.3),
    "yes or no": lambda x, y: functional.binary_cross_entropy(x / 4, y / 4),
    "yes or no of each": lambda x, y: functional.binary_cross_entropy(x / 4, y / 4, reduction="none"),
    "logits": functional.binary_cross_entropy_with_logits,
    "addcmul": lambda x, y: torch.addcmul(x, x, y, value=0.3),
    "addcdiv": lambda x, y: torch.addcdiv(x, x, y, value=0.3),
    "lerp": lambda x, y: torch.lerp(x, y, 0.3) + torch.lerp(x, y, 0.8),
}

UNITS = {
    "hardtanh": functional.hardtanh,
    "relu6": functional.relu6,
    "threshold": lambda x: functional.threshold(x, 0.5, 7.0),
    "hardsigmoid": functional.hardsigmoid,
    "hardswish": functional.hardswish,
    "hardshrink": functional.hardshrink,
    "softshrink": functional.softshrink,
    "softplus": functional.softplus,
    "logit": lambda x: torch.logit(x / 4, 0.1),
    "asinh": torch.asinh,
    "acosh": lambda x: torch.acosh(x + 1),
    "atanh": lambda x: torch.atanh(x / 4),
    "power": lambda x: x**1.7,
}


def numbers(start, dtype):
    return (torch.arange(150, dtype=dtype) * 1.3 + start).sin().mul(1.7).add(1.9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", PAIRS)
def test_gradients_of_two_operands_are_the_recorded_ones(name, dtype):
    x, y = (numbers(start, dtype).requires_grad_() for start in (0, 2))
    for result in (PAIRS[name](x, y), PAIRS[name](x.reshape(10, 15).t(), y.reshape(10, 15).t())):
        g = torch.full_like(result, 1.5)
        found = torch.autograd.grad(result, (x, y), g, retain_graph=True)
        recorded = torch.autograd.grad(result, (x, y), g, create_graph=True)
        torch.testing.assert_close(found, recorded)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", UNITS)
def test_gradients_of_one_operand_are_the_recorded_ones(name, dtype):
    x = numbers(0, dtype).requires_grad_()
    result = UNITS[name](x)
    g = torch.linspace(-1, 1, 150, dtype=dtype)
    (found,) = torch.autograd.grad(result, x, g, retain_graph=True)
    (recorded,) = torch.autograd.grad(result, x, g, create_graph=True)
    torch.testing.assert_close(found, recorded)


@pytest.mark.parametrize(
    "name", ["hardtanh", "relu6", "threshold", "hardsigmoid", "hardshrink", "softshrink"]
)
def test_an_infinite_gradient_does_not_pass_where_the_slope_is_zero(name):
    at = torch.tensor([-9.0 if name != "hardshrink" and name != "softshrink" else 0.1], requires_grad=True)
    (found,) = torch.autograd.grad(UNITS[name](at), at, torch.tensor([math.inf]))
    assert found.item() == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_functions_of_two_numbers_end_where_torch_says(dtype):
    values = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, math.inf, -math.inf, math.nan, 1e-30, 1e30]
    a = torch.tensor([x for x in values for _ in values], dtype=dtype)
    b = torch.tensor(values * len(values), dtype=dtype)
    for function, expected in [
        (torch.pow, power),
        (torch.logaddexp, added),
        (torch.xlogy, lambda x, y: y if y != y else 0.0 if x == 0 else x * logarithm(y)),
    ]:
        wanted = [expected(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        wanted = torch.tensor(wanted, dtype=torch.float64).to(dtype)
        found = function(a, b)
        torch.testing.assert_close(found, wanted, equal_nan=True, rtol=1e-5, atol=0)
        is_number = ~found.isnan()
        assert function is not torch.pow or found.signbit()[is_number].equal(wanted.signbit()[is_number])


def power(x, y):
    try:
        result = math.pow(x, y)
    except OverflowError:
        odd = y == int(y) and int(y) % 2 == 1
        return -math.inf if x < 0 and odd else math.inf
    except ValueError:
        if x == 0:
            odd = math.isfinite(y) and y == int(y) and int(y) % 2 == 1
            return math.copysign(math.inf, x) if odd else math.inf
        return math.nan
    return result


def logarithm(x):
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def added(x, y):
    if x != x or y != y:
        return math.nan
    most, least = max(x, y), min(x, y)
    return most if math.isinf(most) or math.isinf(least) else most + math.log1p(math.exp(least - most))


def test_powers_of_doubles_and_inverse_hyperbolic_functions_are_as_near_as_those_of_the_standard_library():
    x = torch.linspace(-300, 300, 2001, dtype=torch.float64)
    base = torch.linspace(0.1, 9, 2001, dtype=torch.float64)
    for found, expected in [
        (base**x, [math.pow(a, b) for a, b in zip(base.tolist(), x.tolist(), strict=True)]),
        ((x**3).asinh(), [math.asinh(a) for a in (x**3).tolist()]),
        ((1 + base * 1e-6).acosh(), [math.acosh(a) for a in (1 + base * 1e-6).tolist()]),
        ((base / 9.5).atanh(), [math.atanh(a) for a in (base / 9.5).tolist()]),
    ]:
        torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-15, atol=0)


def test_quotients_are_rounded_down_exactly():
    a = torch.linspace(-50, 50, 401)
    b = torch.tensor([0.1, -0.3, 7.0, math.inf, -math.inf]).repeat_interleave(401)
    a = a.repeat(5)
    expected = [float(x // y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert torch.floor_divide(a, b).tolist() == expected
