"""`set_`: a tensor that shows other memory from now on."""

import pytest
import rushlight as torch
from support import raises


def test_it_shows_the_memory_of_the_other_tensor():
    x, source = torch.ones(2), torch.zeros(3)
    assert x.set_(source) is x
    source.fill_(7)
    x.add_(1)
    assert x.tolist() == [8.0, 8.0, 8.0] == source.tolist()


def test_it_shows_a_part_in_a_shape_of_its_own():
    source = torch.arange(6.0)
    assert torch.ones(1).set_(source, 1, (2, 2)).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert torch.ones(1).set_(source, 0, (2, 2), (1, 2)).tolist() == [[0.0, 2.0], [1.0, 3.0]]


def test_without_another_tensor_nothing_is_left():
    assert torch.ones(2).set_().tolist() == []


def test_it_counts_as_a_write():
    x = torch.ones(2, requires_grad=True)
    y = x * x
    with torch.no_grad():
        x.set_(torch.full((2,), 5.0))
    assert x._version == 1
    text = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [2]] is at version 1; expected version 0 instead."
    )
    with raises(RuntimeError, text):
        y.sum().backward()


def test_a_leaf_that_requires_grad_refuses():
    x = torch.ones(2, requires_grad=True)
    text = "a leaf Variable that requires grad is being used in an in-place operation."
    with raises(RuntimeError, text):
        x.set_(torch.ones(2))


def test_there_is_no_derivative():
    x = torch.ones(2, requires_grad=True) * 2
    x.set_(torch.ones(2))
    assert x.grad_fn.name() == "torch::autograd::NotImplemented"
    with raises(RuntimeError, "derivative for set_ is not implemented"):
        x.sum().backward()


@pytest.mark.parametrize(
    ("dtype", "name"), [("int64", "long int"), ("int32", "int"), ("complex64", "c10::complex<float>")]
)
def test_the_element_type_stays(dtype, name):
    with raises(RuntimeError, f"Could not set tensor of type {name} to a tensor of type float"):
        torch.ones(2).set_(torch.ones(2, dtype=getattr(torch, dtype)))
