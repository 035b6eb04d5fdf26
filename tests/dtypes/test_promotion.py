"""Type promotion: tensors with tensors, 0-d tensors, Python numbers; casts in place."""

import itertools

import numpy as np
import pytest
import rushlight as torch
from support import raises

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64"]
DTYPES = {name: getattr(torch, name) for name in NAMES}
RANK = {"bool": 0, "uint8": 1, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float32": 5, "float64": 6}
CATEGORY = {name: "bool" if name == "bool" else "float" if "float" in name else "int" for name in NAMES}
ORDER = {"bool": 0, "int": 1, "float": 2}
PAIRS = list(itertools.product(NAMES, NAMES))


def joined(a, b):
    """The smallest dtype that holds both: uint8 with int8 needs int16."""
    if {a, b} == {"uint8", "int8"}:
        return "int16"
    return a if RANK[a] >= RANK[b] else b


def one(name, *shape):
    return torch.ones(shape, dtype=DTYPES[name])


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_promote_types_is_the_table(a, b):
    assert torch.promote_types(DTYPES[a], DTYPES[b]) is DTYPES[joined(a, b)]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_two_tensors_give_the_joined_dtype(a, b):
    expected = DTYPES[joined(a, b)]
    x, y = one(a, 2), one(b, 2)
    assert torch.result_type(x, y) is expected
    assert (x + y).dtype is expected
    assert (x * y).dtype is expected
    assert torch.maximum(x, y).dtype is expected
    assert torch.where(torch.tensor([True, False]), x, y).dtype is expected
    if joined(a, b) != "bool":
        assert (x**y).dtype is expected
    if "bool" not in (a, b):
        assert (x - y).dtype is expected


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_a_0d_tensor_counts_only_when_its_category_is_higher(a, b):
    if ORDER[CATEGORY[b]] > ORDER[CATEGORY[a]]:
        expected = b
    else:
        expected = a
    x, scalar = one(a, 2), one(b)
    assert (x + scalar).dtype is DTYPES[expected]
    assert (scalar + x).dtype is DTYPES[expected]
    assert torch.result_type(x, scalar) is DTYPES[expected]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_two_0d_tensors_give_the_joined_dtype(a, b):
    assert (one(a) + one(b)).dtype is DTYPES[joined(a, b)]


@pytest.mark.parametrize("shape", [(2,), ()], ids=["vector", "scalar"])
@pytest.mark.parametrize("number", [True, 3, 2.5], ids=["bool", "int", "float"])
@pytest.mark.parametrize("name", NAMES)
def test_a_python_number_counts_only_by_category(name, number, shape):
    kind = {bool: "bool", int: "int", float: "float"}[type(number)]
    expected = DTYPES[name]
    if ORDER[kind] > ORDER[CATEGORY[name]]:
        expected = {"int": torch.int64, "float": torch.float32}[kind]
    x = one(name, *shape)
    assert (x + number).dtype is expected
    assert (number + x).dtype is expected
    assert (x * number).dtype is expected
    assert torch.result_type(x, number) is expected


def test_the_default_dtype_decides_what_integers_and_floats_make():
    torch.set_default_dtype(torch.float64)
    assert torch.get_default_dtype() is torch.float64
    assert (one("int64", 2) + 1.5).dtype is torch.float64
    assert (one("int64", 2) / 2).dtype is torch.float64
    assert torch.tensor(1.5).dtype is torch.float64
    assert torch.zeros(2).dtype is torch.float64
    assert one("int64", 2).exp().dtype is torch.float64
    torch.set_default_dtype(torch.float32)
    assert torch.tensor([1.5]).dtype is torch.float32


@pytest.mark.parametrize("name", NAMES)
def test_true_division_makes_floats(name):
    expected = DTYPES[name] if "float" in name else torch.float32
    assert (one(name, 2) / one(name, 2)).dtype is expected
    assert (one(name, 2) / 2).dtype is expected
    assert (2 / one(name, 2)).dtype is expected


@pytest.mark.parametrize("operation", ["exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid"])
@pytest.mark.parametrize("name", NAMES)
def test_functions_of_reals_make_floats(name, operation):
    expected = DTYPES[name] if "float" in name else torch.float32
    assert getattr(one(name, 2), operation)().dtype is expected


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_comparisons_make_bools(a, b):
    x, y = one(a, 2), one(b, 2)
    for result in (x < y, x <= y, x > y, x >= y, x == y, x != y, x == 1, x < 2.5):
        assert result.dtype is torch.bool


@pytest.mark.parametrize("name", NAMES)
def test_sums_and_products_of_integers_are_int64(name):
    expected = DTYPES[name] if "float" in name else torch.int64
    for result in (one(name, 2).sum(), one(name, 2).sum(0), one(name, 2).prod(), one(name, 2).cumsum(0)):
        assert result.dtype is expected


@pytest.mark.parametrize("name", NAMES)
def test_reductions_that_keep_the_dtype(name):
    x = one(name, 2)
    assert x.max().dtype is x.dtype
    assert x.min(0)[0].dtype is x.dtype
    assert x.amax().dtype is x.dtype
    assert name == "bool" or x.argmax().dtype is torch.int64
    assert x.any().dtype is (torch.uint8 if name == "uint8" else torch.bool)
    assert x.all(0).dtype is (torch.uint8 if name == "uint8" else torch.bool)


@pytest.mark.parametrize("name", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_means_of_integers_are_refused_unless_a_dtype_is_named(name):
    with pytest.raises(RuntimeError, match=r"mean\(\): could not infer output dtype"):
        one(name, 2).mean()
    assert one(name, 2).mean(dtype=torch.float64).dtype is torch.float64


@pytest.mark.parametrize("name", NAMES)
def test_a_dtype_argument_decides_the_sum(name):
    assert one(name, 2).sum(dtype=torch.float64).dtype is torch.float64
    assert one(name, 2).sum(0, dtype=torch.int32).dtype is torch.int32


TITLES = {"bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long"}
TITLES |= {"float32": "Float", "float64": "Double"}


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_a_change_in_place_keeps_the_dtype_or_is_refused(a, b):
    x, y = one(a, 2), one(b, 2)
    result = joined(a, b)
    if ORDER[CATEGORY[result]] > ORDER[CATEGORY[a]]:
        with raises(
            RuntimeError, f"result type {TITLES[result]} can't be cast to the desired output type {TITLES[a]}"
        ):
            x.add_(y)
        assert x._version == 0
    else:
        x.add_(y)
        assert x.dtype is DTYPES[a]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_copy_in_place_converts_anything(a, b):
    x = one(a, 2)
    x.copy_(torch.tensor([0, 1]).to(DTYPES[b]))
    assert x.dtype is DTYPES[a] and x.tolist() == [0, 1]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_cat_and_stack_join_dtypes(a, b):
    assert torch.cat([one(a, 2), one(b, 3)]).dtype is DTYPES[joined(a, b)]
    assert torch.stack([one(a, 2), one(b, 2)]).dtype is DTYPES[joined(a, b)]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_can_cast_forbids_a_lower_category(a, b):
    assert torch.can_cast(DTYPES[a], DTYPES[b]) is (ORDER[CATEGORY[a]] <= ORDER[CATEGORY[b]])


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64"])
def test_integers_wrap_around_like_numpy(name):
    limits = np.iinfo(name)
    x = torch.tensor([limits.max], dtype=DTYPES[name])
    assert (x + 1).item() == limits.min
    y = torch.tensor([limits.min], dtype=DTYPES[name])
    assert (y - 1).item() == limits.max
    assert (x * 2).item() == int(
        np.array([limits.max], dtype=name).astype(object)[0] * 2 % 2**limits.bits
    ) - (2**limits.bits if limits.min < 0 else 0)


def test_sum_of_bools_counts():
    assert torch.tensor([True, False, True]).sum().item() == 2
    assert (torch.tensor([True]) + torch.tensor([True])).tolist() == [True]
    assert (torch.tensor([True]) * torch.tensor([False])).tolist() == [False]
