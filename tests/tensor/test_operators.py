"""Python operators on tensors: both sides, in place, with numbers, with foreign objects."""

import operator

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, sample

ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
INPLACE = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
}
BITWISE = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


@pytest.mark.parametrize("symbol", ARITHMETIC)
def test_an_operator_takes_tensors_and_numbers_on_either_side(symbol):
    apply = ARITHMETIC[symbol]
    a, b = sample(3, 4, low=0.5), sample(3, 4, seed=1, low=0.5)
    x, y = torch.tensor(a), torch.tensor(b)
    assert_tensor(apply(x, y), apply(a, b))
    assert_tensor(apply(x, 2), apply(a, 2))
    assert_tensor(apply(x, 1.5), apply(a, 1.5))
    assert_tensor(apply(2, x), apply(2, a))
    assert_tensor(apply(1.5, x), apply(1.5, a))


@pytest.mark.parametrize("symbol", ["+", "-", "*", "//", "%", "**"])
def test_an_operator_between_integers_agrees_with_numpy(symbol):
    apply = ARITHMETIC[symbol]
    a, b = np.array([7, -7, 6, -6, 5]), np.array([2, 2, 4, 4, 3])
    assert_tensor(apply(torch.tensor(a), torch.tensor(b)), apply(a, b), torch.int64)
    assert_tensor(apply(torch.tensor(a), 3), apply(a, 3), torch.int64)


@pytest.mark.parametrize("symbol", INPLACE)
def test_an_operator_in_place_keeps_object_and_memory(symbol):
    a, b = sample(3, 4, low=0.5), sample(3, 4, seed=1, low=0.5)
    for other in (torch.tensor(b), 2, 1.5):
        x = torch.tensor(a)
        y, address = x, x.data_ptr()
        x = INPLACE[symbol](x, other)
        assert x is y and x.data_ptr() == address
        plain = ARITHMETIC[symbol[:-1]]
        assert_tensor(x, plain(a, b if isinstance(other, torch.Tensor) else other))


@pytest.mark.parametrize("symbol", BITWISE)
def test_bitwise_operators_agree_with_numpy(symbol):
    apply = BITWISE[symbol]
    a, b = np.array([12, 10, -1]), np.array([10, 3, 6])
    assert_tensor(apply(torch.tensor(a), torch.tensor(b)), apply(a, b))
    assert_tensor(apply(torch.tensor(a), 6), apply(a, 6))
    p, q = np.array([True, True, False]), np.array([True, False, False])
    assert_tensor(apply(torch.tensor(p), torch.tensor(q)), apply(p, q), torch.bool)


def test_operators_change_signs_and_bits():
    x = torch.tensor([1.5, -2.0])
    assert (-x).tolist() == [-1.5, 2.0] and (+x) is x and abs(x).tolist() == [1.5, 2.0]
    assert (~torch.tensor([True, False])).tolist() == [False, True]
    assert (~torch.tensor([0, 5])).tolist() == [-1, -6]


@pytest.mark.parametrize(
    "number", [np.float64(2.0), np.float32(2.0), np.int64(2)], ids=lambda n: type(n).__name__
)
def test_numpy_scalars_are_numbers(number):
    x = torch.ones(2)
    assert type(x * number) is torch.Tensor and (x * number).tolist() == [2.0, 2.0]
    assert (x + number).dtype is torch.float32


def test_an_unknown_operand_is_given_its_chance():
    class Other:
        def __radd__(self, tensor):
            return "radd"

        def __rmul__(self, tensor):
            return "rmul"

        def __rmatmul__(self, tensor):
            return "rmatmul"

    x = torch.ones(2)
    assert (x + Other(), x * Other(), x @ Other()) == ("radd", "rmul", "rmatmul")


def test_equality_with_anything_else_is_false():
    x = torch.ones(2)
    assert (x == "a") is False and (x != "a") is True
    nothing = None
    assert (x == nothing) is False and (x != nothing) is True


def test_equality_of_shapes_that_do_not_broadcast_is_an_error():
    with pytest.raises(RuntimeError, match="The size of tensor a"):
        torch.ones(2) == torch.ones(3)  # noqa: B015


def test_a_tensor_contains_the_numbers_that_it_shows():
    x = torch.tensor([1, 2, 3])
    assert 2 in x and 5 not in x and torch.tensor(3) in x


@pytest.mark.parametrize("a", [-7.5, 7.5, -1.0, 0.0])
@pytest.mark.parametrize("b", [2.0, -2.0])
def test_floor_division_and_remainder_have_the_sign_of_the_divisor(a, b):
    x, y = torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
    assert (x // y).item() == a // b and (x % y).item() == a % b


def test_operators_record_history_on_either_side():
    x = torch.tensor([2.0], requires_grad=True)
    for y, expected in [
        (3 - x, -1.0),
        (x - 3, 1.0),
        (3 / x, -0.75),
        (x / 4, 0.25),
        (2**x, 4 * np.log(2)),
        (x**3, 12.0),
        (-x, -1.0),
    ]:
        (g,) = torch.autograd.grad(y.sum(), x)
        assert g.item() == pytest.approx(expected, rel=1e-6)


def test_reversed_turns_the_first_dimension_around():
    x = torch.arange(6).view(3, 2)
    assert torch.equal(reversed(x), x.flip(0))
    number = torch.tensor(2.0)
    assert reversed(number) is number


def test_equality_with_an_array_is_of_elements():
    x = torch.arange(3)
    for equal in (x == np.array([0, 5, 2]), np.array([0, 5, 2]) == x):
        assert equal.tolist() == [True, False, True] and equal.dtype == torch.bool
    assert (x == np.arange(3)[:, None]).shape == (3, 3)
    assert (torch.nn.Parameter(torch.ones(2)) == np.ones(2)).tolist() == [True, True]
    assert (torch.ones(0) == np.ones(0)).shape == (0,)
    with pytest.raises(
        RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(4\)"
    ):
        x == np.arange(4)  # noqa: B015
    with pytest.raises(ValueError, match="At least one stride in the given numpy array is negative"):
        x == np.arange(3)[::-1]  # noqa: B015


@pytest.mark.parametrize("other", [["a"], [None, None, None], ["2020-01-01"]])
def test_no_tensor_is_equal_to_an_array_of_other_things(other):
    assert (torch.arange(3) == np.array(other)) is False
    assert (torch.arange(3) == np.array(other, dtype=object)) is False


def test_no_other_comparison_takes_an_array():
    x = torch.arange(3)
    assert (x != np.arange(3)) is True
    with pytest.raises(TypeError, match="not supported between instances of 'Tensor'"):
        x < np.arange(3)  # noqa: B015
