"""In which order the dimensions of a tensor lie in memory."""

from __future__ import annotations

import pytest
import rushlight as torch

ROWS, CHANNELS = torch.contiguous_format, torch.channels_last


def test_empty_memory_takes_an_order():
    assert torch.empty((2, 3, 4, 5), memory_format=CHANNELS).stride() == (60, 1, 15, 3)
    assert torch.empty(2, 3, 4, 5, 6, memory_format=torch.channels_last_3d).stride() == (360, 1, 90, 18, 3)
    assert torch.empty(2, 3, memory_format=ROWS).stride() == (3, 1)


def test_empty_memory_refuses_orders_that_it_cannot_have():
    with pytest.raises(RuntimeError, match=r"^required rank 4 tensor to use channels_last format$"):
        torch.empty(2, 3, memory_format=CHANNELS)
    with pytest.raises(RuntimeError, match=r"^unsupported memory format Preserve$"):
        torch.empty(2, 3, memory_format=torch.preserve_format)


@pytest.mark.parametrize(
    ("tensor", "order"),
    [
        (torch.empty(2, 3, 4), (0, 1, 2)),
        (torch.empty(2, 3, 4).permute(2, 0, 1), (1, 2, 0)),
        (torch.empty(2, 3, 4, 5, memory_format=CHANNELS), (0, 2, 3, 1)),
        (torch.empty(2, 3, 4, 5, memory_format=CHANNELS)[:, :1], (0, 2, 3, 1)),
        (torch.empty(2, 1, 3).transpose(1, 2), (0, 1, 2)),
        (torch.empty(3).expand(2, 3), (0, 1)),
        (torch.empty(()), ()),
        (torch.empty(0, 3), (0, 1)),
    ],
)
def test_the_order_of_dimensions_is_told(tensor, order):
    assert tensor.dim_order() == order


def test_whether_elements_lie_in_an_order_is_told():
    for sizes in ((2, 3, 4, 5), (2, 1, 4, 5), (1, 2, 2, 1), (2, 3, 1, 1), (0, 3, 4, 5)):
        x = torch.empty(sizes)
        y = x.contiguous(memory_format=CHANNELS)
        assert x.is_contiguous(memory_format=ROWS)
        assert y.is_contiguous(memory_format=CHANNELS)
        assert x.is_contiguous(memory_format=CHANNELS) == (x.shape[1] == 1 or x.shape[2:] == (1, 1))
    assert not torch.empty(2, 3).is_contiguous(memory_format=CHANNELS)
    assert not torch.empty(2, 3, 4, 5).is_contiguous(memory_format=torch.channels_last_3d)


def test_what_has_several_orders_is_refused_if_wanted():
    several = (
        "^The tensor does not have unique dim order, or cannot map to exact one of the given memory formats.$"
    )
    single = torch.empty(1, 2, 3, 4)
    assert single.dim_order(ambiguity_check=[ROWS, CHANNELS]) == (0, 1, 2, 3)
    for check in (True, [CHANNELS], [ROWS, ROWS]):
        with pytest.raises(RuntimeError, match=several):
            single.dim_order(ambiguity_check=check)
    with pytest.raises(RuntimeError, match=several):
        torch.empty_strided((2, 2), (1, 1)).dim_order(ambiguity_check=[ROWS])
    for repeated in (torch.empty(3).expand(2, 3), torch.empty(2, 1, 3, 4)):
        with pytest.raises(RuntimeError, match=r"^The tensor does not have unique dim order.$"):
            repeated.dim_order(ambiguity_check=[ROWS])


def test_what_to_check_is_a_bool_or_formats():
    with pytest.raises(
        TypeError, match=r"^The ambiguity_check argument must be a bool or a list of memory formats.$"
    ):
        torch.empty(2).dim_order(ambiguity_check=[1])


def test_strides_of_no_dimension_are_those_of_all():
    x = torch.ones(2, 3)
    assert x.stride(None) == x.stride(dim=None) == (3, 1)


def test_a_mean_over_an_image_keeps_channels_last():
    x = torch.rand(2, 3, 4, 4).contiguous(memory_format=torch.channels_last).requires_grad_()
    mean = torch.nn.functional.adaptive_avg_pool2d(x, 1)
    assert mean.stride() == (3, 1, 3, 3)
    assert type(mean.grad_fn).__name__ == "AsStridedBackward1"
    mean.sum().backward()
    assert torch.allclose(x.grad, torch.full((2, 3, 4, 4), 1 / 16))
    volumes = torch.rand(2, 3, 4, 4, 4).contiguous(memory_format=torch.channels_last_3d)
    assert torch.nn.functional.adaptive_avg_pool3d(volumes, 1).stride() == (3, 1, 3, 3, 3)
    for other in (x.detach()[:0], torch.rand(2, 3, 4, 4), torch.rand(2, 3, 1, 1)):
        assert torch.nn.functional.adaptive_avg_pool2d(other, 1).stride() == (3, 1, 1, 1)
