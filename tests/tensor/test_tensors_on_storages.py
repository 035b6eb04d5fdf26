"""Tensors made on memory that is there."""

import rushlight as torch


def test_a_tensor_may_be_made_of_a_storage():
    x = torch.arange(3.0)
    y = torch.Tensor(x.untyped_storage())
    y[0] = 5
    assert x.tolist() == [5, 1, 2]
    assert torch.FloatTensor(x.untyped_storage()).tolist() == [5, 1, 2]


def test_bytes_that_make_no_whole_element_are_left_out():
    assert torch.Tensor(torch.zeros(7, dtype=torch.uint8).untyped_storage()).shape == (1,)
