"""Conversion to an order in memory, where sizes of one leave open in which a tensor lies."""

import pytest
import rushlight as torch


@pytest.mark.parametrize(
    ("size", "stride"),
    [((2, 2, 1, 1), (2, 1, 2, 2)), ((2, 1, 3, 3), (9, 1, 3, 1)), ((1, 1, 1, 1), (1, 1, 1, 1))],
)
def test_what_could_lie_either_way_is_converted(size, stride):
    x = torch.ones(size)
    y = x.to(memory_format=torch.channels_last)
    assert y is not x
    assert y.stride() == stride
    # That is no reason to copy for those who only want to read in this order.
    assert x.contiguous(memory_format=torch.channels_last) is x


def test_volumes_are_converted_too():
    x = torch.ones(2, 3, 1, 1, 1)
    assert x.to(memory_format=torch.channels_last_3d).stride() == (3, 1, 3, 3, 3)


def test_what_lies_as_is_asked_for_stays():
    x = torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last)
    assert x.to(memory_format=torch.channels_last) is x
    assert x.to(memory_format=torch.preserve_format) is x
    y = torch.ones(2, 3).t()
    assert y.to(memory_format=torch.contiguous_format) is y


def test_channels_get_back_to_their_place():
    x = torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last)
    assert x.to(memory_format=torch.contiguous_format).stride() == (48, 16, 4, 1)


@pytest.mark.parametrize("name", ["contiguous", "is_contiguous"])
def test_no_order_is_none(name):
    text = rf"^{name}\(\): argument 'memory_format' must be torch.memory_format, not NoneType$"
    with pytest.raises(TypeError, match=text):
        getattr(torch.ones(2), name)(memory_format=None)
