"""Creation: from data, by rule; dtype inference; names, shapes, values."""

import math

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1, "int64", ()),
        (1.5, "float32", ()),
        (True, "bool", ()),
        ([], "float32", (0,)),
        ([[]], "float32", (1, 0)),
        ([[], []], "float32", (2, 0)),
        ([1, 2], "int64", (2,)),
        ([1, 2.5], "float32", (2,)),
        ([True, False], "bool", (2,)),
        ([True, 2], "int64", (2,)),
        ([True, 2.5], "float32", (2,)),
        ([[1, 2], [3, 4]], "int64", (2, 2)),
        (((1, 2), [3, 4.0]), "float32", (2, 2)),
        ([[[1]]], "int64", (1, 1, 1)),
        (range(3), "int64", (3,)),
        (np.float32(1.5), "float32", ()),
        (np.float64(1.5), "float64", ()),
        (np.int32(1), "int32", ()),
        (np.bool_(True), "bool", ()),
        ([np.float64(1.5)], "float64", (1,)),
        ([np.int8(1), np.int8(2)], "int8", (2,)),
        (np.zeros((2, 3), dtype=np.int16), "int16", (2, 3)),
        ([np.zeros(3), np.ones(3)], "float64", (2, 3)),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_the_dtype_and_shape_are_inferred_from_the_data(data, dtype, shape):
    x = torch.tensor(data)
    assert x.dtype is getattr(torch, dtype)
    assert tuple(x.shape) == shape
    np.testing.assert_array_equal(x.numpy(), np.array(data))


def test_a_list_of_scalar_tensors_is_data():
    assert torch.tensor([torch.tensor(1), torch.tensor(2)]).tolist() == [1, 2]
    assert torch.tensor([torch.tensor(1.5), 2]).tolist() == [1.5, 2.0]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64"])
def test_the_dtype_can_be_named(dtype):
    kind = getattr(torch, dtype)
    assert_tensor(torch.tensor([0, 1], dtype=kind), np.array([0, 1]).astype(dtype), kind)
    for x in (
        torch.zeros(2, dtype=kind),
        torch.ones(2, dtype=kind),
        torch.empty(2, dtype=kind),
        torch.eye(2, dtype=kind),
    ):
        assert x.dtype is kind
    assert torch.full((2,), 1, dtype=kind).dtype is kind


def test_torch_tensor_copies_a_tensor_and_warns():
    x = torch.ones(2)
    with pytest.warns(
        UserWarning, match="To copy construct from a tensor, it is recommended to use sourceTensor.detach"
    ):
        y = torch.tensor(x)
    assert y is not x and y.data_ptr() != x.data_ptr()


def test_requires_grad_is_an_argument_everywhere():
    for x in (
        torch.tensor([1.0], requires_grad=True),
        torch.zeros(1, requires_grad=True),
        torch.full((1,), 2.0, requires_grad=True),
        torch.rand(1, requires_grad=True),
        torch.arange(2.0, requires_grad=True),
        torch.zeros_like(torch.ones(2), requires_grad=True),
    ):
        assert x.requires_grad and x.is_leaf


@pytest.mark.parametrize(("name", "value"), [("zeros", 0.0), ("ones", 1.0)])
def test_constants_take_their_shape_in_every_spelling(name, value):
    make = getattr(torch, name)
    for x in (make(2, 3), make((2, 3)), make([2, 3]), make(torch.Size([2, 3])), make(size=(2, 3))):
        assert_tensor(x, np.full((2, 3), value, dtype=np.float32), torch.float32)
    assert make(()).shape == () and make(0).shape == (0,) and make(2, 0, 3).shape == (2, 0, 3)


def test_full_infers_its_dtype_from_the_number():
    assert torch.full((2,), 3).dtype is torch.int64
    assert torch.full((2,), 3.5).dtype is torch.float32
    assert torch.full((2,), True).dtype is torch.bool
    assert torch.full((), 7).item() == 7
    assert torch.full((1, 2), 3, dtype=torch.float64).tolist() == [[3.0, 3.0]]
    torch.set_default_dtype(torch.float16)
    try:
        assert torch.full((2,), 1j).dtype is torch.complex64 and torch.full((2,), 0.5).dtype is torch.float16
    finally:
        torch.set_default_dtype(torch.float32)


def test_the_like_functions_take_shape_and_dtype():
    x = torch.ones(2, 3, dtype=torch.int16)
    for name in ("zeros_like", "ones_like", "empty_like"):
        y = getattr(torch, name)(x)
        assert y.shape == (2, 3) and y.dtype is torch.int16
        assert getattr(torch, name)(x, dtype=torch.float64).dtype is torch.float64
    assert torch.full_like(x, 7).tolist() == [[7] * 3] * 2
    assert not torch.zeros_like(torch.ones(2, requires_grad=True)).requires_grad
    assert torch.rand_like(torch.ones(2, 3)).shape == torch.randn_like(torch.ones(2, 3)).shape == (2, 3)


def test_the_new_methods_keep_dtype():
    x = torch.ones(2, dtype=torch.float64)
    assert x.new_zeros(3).dtype is torch.float64
    assert x.new_ones((2, 2)).tolist() == [[1.0, 1.0]] * 2
    assert x.new_full((1,), 5).tolist() == [5.0]
    assert x.new_tensor([1, 2]).dtype is torch.float64


@pytest.mark.parametrize(
    "arguments",
    [
        (5,),
        (0,),
        (2, 7),
        (0, 10, 3),
        (5, 0, -2),
        (0, 1, 0.25),
        (1.0, 2.0, 0.3),
        (0.0, 1.0, 0.1),
        (-3, 3),
        (2.5,),
        (5, -5, -0.5),
    ],
    ids=str,
)
def test_arange_agrees_with_numpy(arguments):
    expected = np.arange(*arguments)
    dtype = torch.float32 if expected.dtype == np.float64 else torch.int64
    assert_tensor(torch.arange(*arguments), expected, dtype, tolerance=1e-6)
    assert torch.arange(*arguments, dtype=torch.float64).dtype is torch.float64


def test_arange_takes_its_ends_by_keyword():
    assert torch.arange(start=1, end=4).tolist() == [1, 2, 3]
    assert torch.arange(end=3).tolist() == [0, 1, 2]
    assert torch.arange(0, 6, step=2).tolist() == [0, 2, 4]
    assert torch.arange(True, 3).dtype is torch.int64


@pytest.mark.parametrize(
    "arguments", [(0, 1, 5), (0, 10, 1), (3, -3, 7), (0, 1, 0), (2.5, 2.5, 3), (0, 1, 100)], ids=str
)
def test_linspace_agrees_with_numpy(arguments):
    assert_tensor(torch.linspace(*arguments, dtype=torch.float64), np.linspace(*arguments), torch.float64)
    assert_tensor(torch.linspace(*arguments), np.linspace(*arguments), torch.float32)


def test_linspace_is_exact_at_both_ends():
    x = torch.linspace(0.1, 0.7, 50, dtype=torch.float64)
    assert x[0].item() == 0.1 and x[-1].item() == 0.7
    assert torch.linspace(0, 10, 5, dtype=torch.int64).tolist() == [0, 2, 5, 7, 10]
    assert torch.linspace(start=0, end=1, steps=3).tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("arguments", [(3,), (2, 3), (3, 2), (0,), (1, 0)], ids=str)
def test_eye_agrees_with_numpy(arguments):
    assert_tensor(torch.eye(*arguments), np.eye(*arguments, dtype=np.float32), torch.float32)


def test_infinities_and_nan_are_data():
    x = torch.tensor([math.inf, -math.inf, math.nan])
    assert x.tolist()[:2] == [math.inf, -math.inf] and math.isnan(x.tolist()[2])
    assert torch.inf == math.inf and math.isnan(torch.nan) and torch.pi == math.pi


def test_large_integers_are_exact():
    assert torch.tensor([2**62 + 1, -(2**63)]).tolist() == [2**62 + 1, -(2**63)]
    assert torch.tensor([0.1], dtype=torch.float64).item() == 0.1


def test_a_range_is_counted_in_the_type_that_it_is_written_in():
    def whole():
        return torch.empty(0, dtype=torch.int64)

    assert torch.arange(0.5, 3.7, 1.2, out=whole()).tolist() == [0, 1, 2]
    assert torch.arange(5, 0, -1.5, out=whole()).tolist() == [5, 4, 3, 2, 1]
    with pytest.raises(ValueError, match=r"^step must be nonzero$"):
        torch.arange(0, 64, 0.5, out=whole())
    assert torch.arange(0, 2, out=torch.empty(0)).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128, torch.float16], ids=str)
def test_what_is_drawn_for_a_tensor_is_drawn_in_its_type(dtype):
    for draw in (torch.rand, torch.randn):
        out = torch.empty(0, dtype=dtype)
        torch.manual_seed(1)
        draw(5, out=out)
        torch.manual_seed(1)
        assert torch.equal(out, draw(5, dtype=dtype))


def test_what_is_made_for_a_tensor_is_calculated_in_its_type():
    whole, exact = torch.zeros(9000, dtype=torch.int64), torch.zeros(3, dtype=torch.float64)
    torch.linspace(0, 9000, 9000, out=whole)
    assert torch.equal(whole, torch.linspace(0, 9000, 9000, dtype=torch.int64))
    assert (
        torch.linspace(0, 1 / 3, 3, out=exact).tolist()
        == torch.linspace(0, 1 / 3, 3, dtype=torch.float64).tolist()
    )
    assert torch.full((2,), 1.5, out=torch.zeros(2, dtype=torch.int64)).tolist() == [1, 1]
    assert sorted(torch.randperm(3, out=torch.zeros(3, dtype=torch.int32)).tolist()) == [0, 1, 2]
    with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
        torch.rand(3, dtype=torch.float32, out=exact)
