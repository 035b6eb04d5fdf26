"""Writes that change nothing, or not what one would think, are told apart as torch tells them apart."""

import pytest
import rushlight as torch
from support import raises


def test_a_mask_of_no_dimensions_that_chooses_nothing_is_a_write():
    base = torch.ones(2, requires_grad=True) * 1
    x = base[0]
    x[x > 1] = 0.0
    assert (x.item(), x._version, type(x.grad_fn).__name__) == (1.0, 1, "AsStridedBackward0")


def test_it_is_refused_where_writes_are():
    leaf = torch.ones((), requires_grad=True)
    text = "a view of a leaf Variable that requires grad is being used in an in-place operation."
    with raises(RuntimeError, text):
        leaf[leaf > 1] = 0.0
    part = (torch.ones(2, requires_grad=True) * 1).unbind()[0]
    with pytest.raises(RuntimeError, match="is the output of a function that returns multiple views"):
        part[part > 1] = 0.0


def test_a_truth_value_that_says_no_is_none():
    leaf = torch.ones((), requires_grad=True)
    leaf[False] = 0.0
    assert leaf._version == 0


def test_the_shape_that_it_has_is_no_write():
    x = torch.ones(2)
    x.resize_(2).resize_as_(torch.zeros(2))
    assert x._version == 0
    x.resize_(1)
    assert x._version == 1


def test_another_layout_in_place_has_a_name_of_its_own():
    x = (torch.ones(4, requires_grad=True) * 1).as_strided_((2,), (2,))
    assert type(x.grad_fn).__name__ == "AsStridedBackward1"
    assert type(x.as_strided((1,), (1,)).grad_fn).__name__ == "AsStridedBackward0"


def test_what_does_not_fit_is_told_with_the_shape_that_both_would_have():
    with raises(RuntimeError, "output with shape [2, 2, 1] doesn't match the broadcast shape [2, 2, 2]"):
        torch.ones(2, 2, 1).copy_(torch.ones(2))
    with raises(RuntimeError, "output with shape [2, 1] doesn't match the broadcast shape [2, 3]"):
        torch.ones(2, 1).copy_(torch.ones(1, 3))


@pytest.mark.parametrize("operation", [torch.add, torch.mul, torch.pow, torch.maximum])
def test_a_tensor_that_is_read_gets_no_other_shape(operation):
    x = torch.ones(2)
    with raises(RuntimeError, "output with shape [2] doesn't match the broadcast shape [3, 2]"):
        operation(x, torch.ones(3, 2), out=x)
    assert operation(x, torch.ones(2), out=x) is x
