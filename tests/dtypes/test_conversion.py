"""dtype objects, conversion between dtypes, and the values that come out."""

import copy
import pickle

import numpy as np
import pytest
import rushlight as torch

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64"]
DTYPES = {name: getattr(torch, name) for name in NAMES}
METHODS = {
    "float": "float32",
    "double": "float64",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
}
METHODS |= {"byte": "uint8", "bool": "bool"}


@pytest.mark.parametrize("name", NAMES)
def test_a_dtype_has_its_properties(name):
    dtype = DTYPES[name]
    assert repr(dtype) == f"torch.{name}" and str(dtype) == f"torch.{name}"
    assert dtype.itemsize == np.dtype(name).itemsize
    assert dtype.is_floating_point is ("float" in name)
    assert dtype.is_complex is False
    assert dtype.is_signed is (name not in ("bool", "uint8"))
    assert torch.zeros(2, dtype=dtype).element_size() == dtype.itemsize
    assert torch.zeros(2, dtype=dtype).is_floating_point() is dtype.is_floating_point


def test_aliases_are_the_same_objects():
    assert torch.float is torch.float32 and torch.double is torch.float64
    assert torch.long is torch.int64 and torch.int is torch.int32
    assert torch.short is torch.int16


@pytest.mark.parametrize("name", NAMES)
def test_a_dtype_is_one_object_however_it_travels(name):
    dtype = DTYPES[name]
    assert torch.zeros(1, dtype=dtype).dtype is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert {dtype: 1}[dtype] == 1 and dtype != "x"


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", NAMES)
def test_conversion_agrees_with_numpy(source, target):
    values = [0, 1, 1, 0] if source == "bool" else [0, 1, 2, 100]
    array = np.array(values, dtype=source)
    x = torch.tensor(array)
    assert x.dtype is DTYPES[source]
    y = x.to(DTYPES[target])
    assert y.dtype is DTYPES[target]
    np.testing.assert_array_equal(y.numpy(), array.astype(target))


def test_floats_are_truncated_towards_zero():
    assert torch.tensor([1.9, -1.9, 0.5, -0.5]).to(torch.int64).tolist() == [1, -1, 0, 0]


def test_anything_but_zero_is_true():
    assert torch.tensor([0.0, 0.1, -3.0, float("nan")]).bool().tolist() == [False, True, True, True]


def test_wide_integers_wrap_into_narrow_ones():
    x = torch.tensor([300, -1, 128, 256])
    assert x.to(torch.uint8).tolist() == [44, 255, 128, 0]
    assert x.to(torch.int8).tolist() == [44, -1, -128, 0]


@pytest.mark.parametrize(("method", "name"), METHODS.items())
def test_methods_named_after_types_convert_to_them(method, name):
    x = torch.tensor([0, 1, 2])
    assert getattr(x, method)().dtype is DTYPES[name]


@pytest.mark.parametrize(("method", "name"), METHODS.items())
def test_no_conversion_returns_the_same_object(method, name):
    x = torch.zeros(2, dtype=DTYPES[name])
    assert getattr(x, method)() is x
    assert x.to(DTYPES[name]) is x
    assert x.to("cpu") is x
    assert x.to(DTYPES[name], copy=True) is not x


def test_to_takes_dtype_device_or_another_tensor():
    x = torch.zeros(2)
    assert x.to(torch.float64).dtype is torch.float64
    assert x.to(dtype=torch.int32).dtype is torch.int32
    assert x.to("cpu", torch.int64).dtype is torch.int64
    assert x.to(device="cpu", dtype=torch.bool).dtype is torch.bool
    assert x.to(torch.device("cpu")) is x
    assert x.to(torch.zeros(1, dtype=torch.uint8)).dtype is torch.uint8
    assert x.type(torch.float64).dtype is torch.float64
    assert x.type_as(torch.zeros(1, dtype=torch.int8)).dtype is torch.int8


@pytest.mark.parametrize(
    ("dtype", "title"),
    [
        ("float32", "Float"),
        ("float64", "Double"),
        ("int64", "Long"),
        ("int32", "Int"),
        ("bool", "Bool"),
        ("uint8", "Byte"),
    ],
)
def test_type_without_argument_names_the_class(dtype, title):
    assert torch.zeros(1, dtype=DTYPES[dtype]).type() == f"torch.{title}Tensor"


def test_finfo_and_iinfo_agree_with_numpy():
    for name in ("float32", "float64"):
        ours, theirs = torch.finfo(DTYPES[name]), np.finfo(name)
        assert (ours.eps, ours.max, ours.min, ours.tiny) == tuple(
            float(v) for v in (theirs.eps, theirs.max, theirs.min, theirs.tiny)
        )
        assert ours.bits == theirs.bits
    for name in ("uint8", "int8", "int16", "int32", "int64"):
        ours, theirs = torch.iinfo(DTYPES[name]), np.iinfo(name)
        assert (ours.min, ours.max, ours.bits) == (theirs.min, theirs.max, theirs.bits)


@pytest.mark.parametrize("name", NAMES)
def test_a_tensor_and_its_numpy_array_share_memory(name):
    x = torch.zeros(3, dtype=DTYPES[name])
    array = x.numpy()
    assert array.dtype == np.dtype(name)
    array[1] = 1
    assert x[1].item() == 1
    x[2] = 1
    assert array[2] == 1
    assert array.__array_interface__["data"][0] == x.data_ptr()


@pytest.mark.parametrize("name", NAMES)
def test_from_numpy_shares_memory(name):
    array = np.zeros((2, 3), dtype=name)
    x = torch.from_numpy(array)
    assert x.dtype is DTYPES[name] and tuple(x.shape) == (2, 3)
    array[0, 1] = 1
    x[1, 2] = 1
    assert x[0, 1].item() == 1 and array[1, 2] == 1


def test_from_numpy_keeps_strides():
    array = np.arange(12.0).reshape(3, 4)
    assert torch.from_numpy(array.T).stride() == (1, 4)
    assert torch.from_numpy(array[:, ::2]).stride() == (4, 2)
    assert torch.from_numpy(array.T).data_ptr() == array.ctypes.data


def test_torch_tensor_of_numpy_copies():
    array = np.zeros(3)
    x = torch.tensor(array)
    array[0] = 5
    assert x.tolist() == [0, 0, 0] and x.dtype is torch.float64


def test_as_tensor_copies_only_when_it_must():
    array = np.zeros(3)
    assert torch.as_tensor(array).data_ptr() == array.ctypes.data
    assert torch.as_tensor(array, dtype=torch.float32).dtype is torch.float32
    x = torch.zeros(2)
    assert torch.as_tensor(x) is x
    assert torch.as_tensor([1, 2]).dtype is torch.int64


def test_numpy_reads_tensors_by_protocol():
    x = torch.arange(6.0).view(2, 3)
    np.testing.assert_array_equal(np.asarray(x), np.arange(6.0).reshape(2, 3))
    assert np.asarray(x, dtype=np.int32).dtype == np.int32
    assert np.sum(x.numpy()) == 15
    assert np.asarray(x.t()).strides == (4, 12)


def test_numpy_of_a_leaf_needs_force_or_detach():
    x = torch.ones(2, requires_grad=True)
    assert x.detach().numpy().tolist() == [1.0, 1.0]
    assert x.numpy(force=True).tolist() == [1.0, 1.0]
