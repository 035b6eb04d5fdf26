"""Samples that are given another size in place, and how copies of samples lie in memory."""

import pytest
import rushlight as torch
from rushlight.func import vmap


def rows():
    return torch.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("size", [(2,), (3, 1), (1, 3), (1,)])
def test_the_elements_of_all_samples_are_cut_anew(size):
    expected = rows().flatten()[: 2 * torch.Size(size).numel()].reshape(2, *size)
    assert torch.equal(vmap(lambda x: x.resize_(size))(rows()), expected)
    assert torch.equal(vmap(lambda x: x.resize_(size) * 2)(rows()), expected * 2)


def test_more_elements_come_into_being():
    larger = vmap(lambda x: x.resize_(4).zero_().reshape(2, 2))(rows())
    assert torch.equal(larger, torch.zeros(2, 2, 2))
    x = rows()
    vmap(lambda x: x.resize_(4).zero_())(x)
    assert x.shape == (2, 4)


def test_samples_of_samples_are_resized():
    x = torch.arange(12.0).reshape(2, 2, 3)
    assert torch.equal(vmap(vmap(lambda x: x.resize_(2)))(x), torch.arange(8.0).reshape(2, 2, 2))


def test_samples_that_lie_otherwise_are_refused():
    with pytest.raises(RuntimeError, match="NYI: resize_ batch rule for batch dim != 0"):
        vmap(lambda x: x.resize_(2), in_dims=1)(rows().t().contiguous())


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_the_size_of_another_changes_nothing():
    assert torch.equal(vmap(lambda x: x.resize_as_(torch.ones(1)))(rows()), rows())


def test_copies_lie_as_the_samples_do():
    def strides(f):
        return vmap(f, in_dims=1, out_dims=1)(torch.ones(2, 3, 4)).stride()

    assert strides(lambda x: x.clone()) == (12, 4, 1)
    assert strides(lambda x: x.clone().mul_(2)) == (12, 4, 1)
    assert strides(lambda x: x.clone(memory_format=torch.contiguous_format)) == (4, 8, 1)
    assert strides(lambda x: x.t().clone().t()) == (12, 4, 1)
