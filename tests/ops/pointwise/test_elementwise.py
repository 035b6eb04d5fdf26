"""Elementwise operations: values against numpy, gradients against finite differences, every spelling."""

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, check_gradient, sample

F = torch.nn.functional


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


# name: (numpy's function, lowest and highest argument)
UNARY = {
    "neg": (np.negative, -2, 2),
    "exp": (np.exp, -2, 2),
    "log": (np.log, 0.1, 3),
    "sqrt": (np.sqrt, 0.1, 3),
    "sin": (np.sin, -4, 4),
    "cos": (np.cos, -4, 4),
    "tanh": (np.tanh, -3, 3),
    "sigmoid": (sigmoid, -5, 5),
    "relu": (lambda v: np.maximum(v, 0), -2, 2),
    "abs": (np.abs, -2, 2),
}
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
OPERATORS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
PAIRS = [
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((3, 1), (1, 4)),
    ((), (2, 3)),
    ((2, 1, 3), (4, 1)),
    ((0, 3), (3,)),
    ((2, 3), ()),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 0), (1000,)], ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_one_tensor_agrees_with_numpy(name, shape, dtype):
    function, low, high = UNARY[name]
    values = sample(*shape, low=low, high=high).astype(dtype)
    x = torch.tensor(values)
    expected = function(values.astype(np.float64)).astype(dtype)
    assert_tensor(getattr(torch, name)(x), expected, getattr(torch, dtype))
    assert_tensor(getattr(x, name)(), expected)
    assert_tensor(getattr(x.clone(), name + "_")(), expected)


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_a_strided_tensor_agrees_with_numpy(name):
    function, low, high = UNARY[name]
    values = sample(6, 8, low=low, high=high)
    x = torch.tensor(values)
    assert_tensor(getattr(torch, name)(x.t()), function(values.T))
    assert_tensor(getattr(torch, name)(x[::2, 1::3]), function(values[::2, 1::3]))
    assert_tensor(getattr(torch, name)(x[:1].expand(3, 8)), function(np.repeat(values[:1], 3, 0)))


@pytest.mark.parametrize("name", UNARY)
def test_the_gradient_of_a_function_of_one_tensor_agrees_with_differences(name):
    _, low, high = UNARY[name]
    check_gradient(getattr(torch, name), sample(3, 4, low=low, high=high))


@pytest.mark.parametrize("shapes", PAIRS, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_a_function_of_two_tensors_broadcasts_like_numpy(name, shapes):
    a, b = sample(*shapes[0], low=0.5), sample(*shapes[1], seed=1, low=0.5)
    expected = BINARY[name](a, b)
    x, y = torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
    assert_tensor(getattr(torch, name)(x, y), expected)
    assert_tensor(getattr(x, name)(y), expected)
    assert_tensor(
        getattr(torch, name)(x.float(), y.float()), expected.astype(np.float32), torch.float32, tolerance=1e-5
    )


@pytest.mark.parametrize("shapes", [pair for pair in PAIRS if 0 not in pair[0]], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_the_gradients_of_a_function_of_two_tensors_agree_with_differences(name, shapes):
    check_gradient(getattr(torch, name), sample(*shapes[0], low=0.5), sample(*shapes[1], seed=1, low=0.5))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, -2, 1.5])
def test_a_number_is_an_exponent(exponent):
    values = sample(3, 4, low=0.5)
    assert_tensor(torch.tensor(values) ** exponent, values**exponent)
    assert_tensor(torch.pow(torch.tensor(values), exponent), values**exponent)
    check_gradient(lambda x: x**exponent, values)


def test_a_number_can_be_raised_to_the_power_of_a_tensor():
    values = sample(3, 4)
    assert_tensor(2.0 ** torch.tensor(values), 2.0**values)
    check_gradient(lambda x: 3.0**x, values)


def test_the_gradient_of_a_power_is_finite_at_zero():
    x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    for exponent, expected in ((0, 0.0), (1, 1.0), (2, 0.0)):
        (g,) = torch.autograd.grad((x**exponent).sum(), x)
        assert g.item() == expected
    e = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    (torch.zeros(1, dtype=torch.float64) ** e).sum().backward()
    assert e.grad.item() == 0.0


@pytest.mark.parametrize("shapes", PAIRS, ids=str)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_agree_with_numpy(name, shapes):
    a, b = np.round(sample(*shapes[0])), np.round(sample(*shapes[1], seed=1))
    x, y = torch.tensor(a), torch.tensor(b)
    expected = COMPARISONS[name](a, b)
    assert_tensor(getattr(torch, name)(x, y), expected, torch.bool)
    assert_tensor(getattr(x, name)(y), expected)
    assert_tensor(eval(f"x {OPERATORS[name]} y"), expected)
    assert_tensor(getattr(torch, name)(x, 1), COMPARISONS[name](a, 1))
    assert_tensor(eval(f"1 {OPERATORS[name]} x"), COMPARISONS[name](1, a))


def test_comparisons_with_nan_are_false_but_for_ne():
    x = torch.tensor([float("nan")])
    assert [(x == x).item(), (x < x).item(), (x >= x).item(), (x != x).item()] == [False, False, False, True]


def test_alpha_scales_the_second_operand():
    a, b = sample(3), sample(3, seed=1)
    assert_tensor(torch.add(torch.tensor(a), torch.tensor(b), alpha=3), a + 3 * b)
    assert_tensor(torch.tensor(a).sub(torch.tensor(b), alpha=0.5), a - 0.5 * b)
    check_gradient(lambda x, y: torch.add(x, y, alpha=3), a, b)
    check_gradient(lambda x, y: torch.sub(x, y, alpha=3), a, b)


@pytest.mark.parametrize("bounds", [(-0.5, 0.5), (None, 0.5), (-0.5, None), (0.5, -0.5)], ids=str)
def test_clamp_by_numbers_agrees_with_numpy(bounds):
    low, high = bounds
    values = sample(20)
    expected = values
    if low is not None:
        expected = np.maximum(expected, low)
    if high is not None:
        expected = np.minimum(expected, high)
    assert_tensor(torch.clamp(torch.tensor(values), low, high), expected)
    assert_tensor(torch.tensor(values).clamp(min=low, max=high), expected)
    if bounds != (0.5, -0.5):
        check_gradient(lambda x: x.clamp(low, high), values)


def test_clamp_by_tensors_agrees_with_numpy():
    values, low, high = sample(3, 4), sample(4, seed=1) - 1, sample(3, 1, seed=2) + 1
    x, lo, hi = torch.tensor(values), torch.tensor(low), torch.tensor(high)
    assert_tensor(torch.clamp(x, lo, hi), np.minimum(np.maximum(values, low), high))
    check_gradient(lambda a, b, c: torch.clamp(a, b, c), values, low, high)


def test_clamp_passes_nan_and_splits_no_gradient_at_the_bound():
    assert torch.tensor([float("nan")]).clamp(0, 1).isnan().item()
    x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    x.clamp(0, 1).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 0.0]


def test_equal_operands_of_maximum_share_the_gradient():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([1.0, 1.0], requires_grad=True)
    torch.maximum(x, y).sum().backward()
    assert x.grad.tolist() == [0.5, 1.0] and y.grad.tolist() == [0.5, 0.0]


def test_maximum_and_minimum_pass_nan():
    nan, one = torch.tensor([float("nan")]), torch.tensor([1.0])
    for function in (torch.maximum, torch.minimum):
        assert function(nan, one).isnan().item() and function(one, nan).isnan().item()


@pytest.mark.parametrize(
    ("name", "at", "expected"),
    [
        ("relu", 0.0, 0.0),
        ("abs", 0.0, 0.0),
        ("sqrt", 0.0, np.inf),
        ("log", 0.0, np.inf),
        ("exp", -np.inf, 0.0),
    ],
)
def test_the_gradient_at_an_edge_is_this(name, at, expected):
    x = torch.tensor([at], requires_grad=True)
    getattr(torch, name)(x).sum().backward()
    assert x.grad.item() == expected


@pytest.mark.parametrize(
    "shapes", [((2, 3), (2, 3), (2, 3)), ((3,), (2, 1), (2, 3)), ((2, 3), (), (3,)), ((), (2,), ())], ids=str
)
def test_where_broadcasts_three_operands(shapes):
    mask = sample(*shapes[0], seed=2) > 0
    a, b = sample(*shapes[1]), sample(*shapes[2], seed=1)
    condition = torch.tensor(mask)
    assert_tensor(torch.where(condition, torch.tensor(a), torch.tensor(b)), np.where(mask, a, b))
    check_gradient(lambda x, y: torch.where(condition, x, y), a, b)


def test_where_takes_numbers():
    mask = torch.tensor([True, False])
    assert torch.where(mask, 1, 0).tolist() == [1, 0]
    assert torch.where(mask, torch.tensor([5.0, 6.0]), 0).tolist() == [5.0, 0.0]
    assert torch.where(mask, 1.5, torch.tensor([5.0, 6.0])).tolist() == [1.5, 6.0]
    assert torch.tensor([5.0, 6.0]).where(mask, torch.tensor(9.0)).tolist() == [5.0, 9.0]


def test_where_does_not_leak_the_gradient_of_the_branch_not_taken():
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    torch.where(x > 0, x, x * 0).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]


def test_where_of_a_condition_alone_finds_the_true_places():
    rows, columns = torch.where(torch.tensor([[True, False], [True, True]]))
    assert rows.tolist() == [0, 1, 1] and columns.tolist() == [0, 0, 1]


def test_division_by_zero_is_infinite_or_nan():
    x = torch.tensor([1.0, -1.0, 0.0]) / 0
    assert x.tolist()[:2] == [float("inf"), float("-inf")] and x[2].isnan().item()
    assert (torch.tensor([1]) / 0).item() == float("inf")


def test_activations_of_the_functional_module_are_the_same():
    values = torch.tensor(sample(5))
    assert torch.equal(F.relu(values), values.relu())
    assert torch.equal(F.sigmoid(values), values.sigmoid())
    assert torch.equal(F.tanh(values), values.tanh())


def test_extreme_arguments_saturate():
    x = torch.tensor([-1000.0, 1000.0])
    assert x.sigmoid().tolist() == [0.0, 1.0]
    assert x.tanh().tolist() == [-1.0, 1.0]
    assert x.exp().tolist() == [0.0, float("inf")]


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.int64, torch.bool, torch.complex64]
)
def test_tensors_are_equal_if_no_element_differs_wherever_it_is(dtype):
    count = 300_000
    x = (torch.arange(count) * 31 % 7).to(dtype)
    assert torch.equal(x, x.clone()) and torch.equal(x[:0], x[5:5]) and torch.equal(x[3], x[10])
    for place in (0, 1023, 1024, 5119, 5120, count - 1):
        other = x.clone()
        other[place] = 0 if other[place] != 0 else 1
        assert not torch.equal(x, other)
        # What does not lie in order is compared in the order of the elements.
        assert not torch.equal(x.view(500, 600).t(), other.view(500, 600).t())
    assert torch.equal(x.view(500, 600).t(), x.view(500, 600).t().contiguous())


def test_numbers_are_equal_by_their_values():
    assert torch.equal(torch.tensor([0.0, 1.0]), torch.tensor([-0.0, 1.0]))
    nan = torch.tensor([1.0, float("nan")])
    assert not torch.equal(nan, nan)
    pair = torch.tensor([1 + 2j, 3 - 1j])
    assert torch.equal(pair, pair.clone()) and not torch.equal(pair, pair.conj())
    assert torch.equal(pair.conj().conj(), pair) and (pair == pair.to(torch.complex128)).all()


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool])
def test_complex_numbers_become_their_real_parts(dtype):
    x = torch.complex(torch.tensor([1.5, -2.0, 0.0, 3.0]), torch.tensor([1.0, 5.0, 0.5, 0.0]))
    for given in (x, x.conj(), x[::2], x.to(torch.complex128)):
        if dtype == torch.bool:
            assert given.to(dtype).all()
        elif dtype != torch.uint8:
            assert torch.equal(given.to(dtype), given.real.to(dtype))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.uint8, torch.float32])
def test_one_bound_is_enough_for_every_type(dtype):
    x = torch.arange(20).to(dtype) - (0 if dtype == torch.uint8 else 10)
    for shown in (x, x.view(4, 5).t(), x[::3]):
        numbers = shown.tolist()

        def bounded(rows, low=-100, high=100):
            return [
                bounded(row, low, high) if isinstance(row, list) else min(max(row, low), high) for row in rows
            ]

        assert torch.clamp(shown, min=3).tolist() == bounded(numbers, low=3)
        assert torch.clamp(shown, max=4).tolist() == bounded(numbers, high=4)
        assert torch.clamp(shown, max=torch.tensor(4, dtype=dtype)).tolist() == bounded(numbers, high=4)
    if dtype == torch.float32:
        found = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0])
        assert str(torch.clamp(found, min=-2).tolist()) == "[nan, inf, -2.0, -0.0]"
        assert str(torch.clamp(found, max=2).tolist()) == "[nan, 2.0, -inf, -0.0]"
