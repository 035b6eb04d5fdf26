"""`FloatTensor` and its like, `new`, `resize`, a default class."""

import warnings

import numpy as np
import pytest
import rushlight as torch
from support import raises

CLASSES = {
    "BFloat16Tensor": torch.bfloat16,
    "BoolTensor": torch.bool,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "DoubleTensor": torch.float64,
    "FloatTensor": torch.float32,
    "HalfTensor": torch.float16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "ShortTensor": torch.int16,
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_makes_tensors_of_its_type(name):
    made, dtype = getattr(torch, name), CLASSES[name]
    assert made([1, 0]).dtype is dtype and made([1, 0]).tolist() == [1, 0]
    assert made().shape == (0,) and made(2, 3).shape == (2, 3) and made(torch.Size([2])).shape == (2,)
    assert made(2, 3).dtype is dtype and made.dtype is dtype and not made.is_cuda
    assert made((3, 4)).shape == (2,) and made(np.ones(2)).tolist() == [1, 1]
    assert isinstance(made([1]), made) and made.__name__ == name
    assert made.layout is torch.strided and not issubclass(made, torch.Tensor)


def test_tensors_are_instances_by_their_type():
    assert isinstance(torch.ones(1), torch.FloatTensor) and not isinstance(torch.ones(1), torch.LongTensor)
    assert isinstance(torch.tensor(1), torch.LongTensor) and not isinstance(3.0, torch.FloatTensor)
    assert torch.FloatTensor.add is torch.Tensor.add
    with raises(AttributeError, "type object 'torch.FloatTensor' has no attribute 'nothing'"):
        torch.FloatTensor.nothing  # noqa: B018


def test_numbers_are_cut_to_the_type():
    assert torch.LongTensor([1.5, 2]).tolist() == [1, 2] and torch.tensor([1]).new([2.7]).tolist() == [2]
    with raises(RuntimeError, "value cannot be converted to type uint8 without overflow"):
        torch.ByteTensor([256])


@pytest.mark.parametrize(
    "make", [torch.LongTensor, torch.FloatTensor, torch.ones(1).new], ids=["long", "float", "new"]
)
def test_what_tensors_are_not_made_of(make):
    for wrong, text in [
        (3.5, "new(): data must be a sequence (got float)"),
        ("a", "new(): invalid data type 'str'"),
        (None, "new(): data must be a sequence (got NoneType)"),
        ({1: 2}, "new(): data must be a sequence (got dict)"),
        ((x for x in [1]), "new(): data must be a sequence (got generator)"),
    ]:
        with raises(TypeError, text):
            make(wrong)
    with raises(RuntimeError, "Trying to create tensor with negative dimension -1: [-1]"):
        make(-1)
    with raises(ValueError, "expected sequence of length 1 at dim 1 (got 2)"):
        make([[1], [2, 3]])
    text = "new(): argument 'size' failed to unpack the object at pos 3 with error \"type must be tuple of ints,but got str\""
    with raises(TypeError, text):
        make(1, 2, "a")
    with raises(RuntimeError, "legacy constructor expects device type: cpu but device type: cuda was passed"):
        make([1], device="cuda")
    with raises(
        TypeError, "new() received an invalid combination of arguments - got (int, requires_grad=bool), but"
    ):
        make(2, requires_grad=True)


def test_a_tensor_of_the_type_is_shown_again():
    x = torch.ones(2)
    same = torch.FloatTensor(x)
    same[0] = 5
    assert x[0] == 5
    text = (
        "expected TensorOptions(dtype=long int, device=cpu, layout=Strided, requires_grad=false (default), "
        "pinned_memory=false (default), memory_format=(nullopt)) (got TensorOptions(dtype=float, device=cpu, "
    )
    with raises(TypeError, text):
        torch.LongTensor(x)


def test_a_new_tensor_has_the_type_of_an_old_one():
    x = torch.tensor([1, 2])
    assert x.new().shape == (0,) and x.new(2, 3).shape == (2, 3) and x.new(2, 3).dtype is torch.int64
    assert x.new((4, 5)).tolist() == [4, 5] and x.new(x).tolist() == [1, 2]


def test_a_tensor_can_be_resized_where_the_elements_stay():
    x = torch.arange(4.0, requires_grad=True)
    with pytest.warns(UserWarning, match="non-inplace resize is deprecated") as caught:
        y = x.resize(2, 2)
    assert caught[0].filename == __file__ and y.tolist() == [[0, 1], [2, 3]]
    (y * y).sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 4.0, 6.0]
    with pytest.warns(UserWarning, match="non-inplace resize_as is deprecated"):
        assert x.resize_as(torch.zeros(1, 4)).shape == (1, 4)
    text = "requested resize to 3x3 (9 elements in total), but the given tensor has a size of 2x3 (6 elements). autograd's resize can only change"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with raises(RuntimeError, text):
            torch.zeros(2, 3).resize(3, 3)


def test_a_tensor_has_all_of_its_elements():
    x = torch.ones(2, requires_grad=True)
    assert x.to_dense() is x and x.to_dense(torch.float64).dtype is torch.float64
    with raises(TypeError, "to_dense(): argument 'dtype' (position 1) must be torch.dtype, not int"):
        x.to_dense(3)


def test_the_default_type_can_be_set_by_its_class():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.set_default_tensor_type(torch.DoubleTensor)
        assert torch.get_default_dtype() is torch.float64 and torch.ones(1).dtype is torch.float64
        torch.set_default_tensor_type("torch.FloatTensor")
        assert torch.get_default_dtype() is torch.float32
        for wrong in (torch.LongTensor, "torch.IntTensor"):
            with raises(TypeError, "only floating-point types are supported as the default type"):
                torch.set_default_tensor_type(wrong)
        for wrong in (3, torch.float64, torch.Tensor):
            text = "invalid type object: only floating-point types are supported as the default type"
            with raises(TypeError, text):
                torch.set_default_tensor_type(wrong)
        with raises(ModuleNotFoundError, "No module named 'nowhere'"):
            torch.set_default_tensor_type("nowhere.Tensor")


def test_a_tensor_is_converted_by_a_class():
    x = torch.tensor([1.5, 2.5])
    assert x.type(torch.LongTensor).tolist() == [1, 2] and x.type(torch.LongTensor).dtype is torch.int64
    assert x.type(torch.FloatTensor) is x
    for wrong in (3.5, torch.FloatTensor([1])):
        with raises(TypeError, "dtype must be a type, str, or dtype object"):
            x.type(wrong)
    for wrong in (float, torch.nn.Parameter):
        with raises(ValueError, f"invalid type: '{wrong.__name__}'"):
            x.type(wrong)


def test_the_class_of_all_tensors_stands_for_the_default_type():
    whole = torch.tensor([1, 2])
    for name in (torch.Tensor, "torch.Tensor"):
        assert whole.type(name).dtype is torch.float32
        assert torch.ones(2).type(name).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert whole.type(torch.Tensor).dtype is whole.type("torch.Tensor").dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
