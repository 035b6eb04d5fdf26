"""Windows over images of which the channels come last in memory: what each channel has by itself, laid out alike."""

import math

import pytest
import rushlight as torch
import rushlight.nn.functional as F

CALLS = {
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "max_pool2d with steps": lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True, return_indices=True),
    "max_pool2d with gaps": lambda x: F.max_pool2d(x, 2, 1, 1, 2, return_indices=True),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, (3, 4), return_indices=True),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "avg_pool2d of elements": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
    "constant padding": lambda x: F.pad(x, (1, 2, 0, 3), value=7),
    "constant padding of rows": lambda x: F.pad(x, (-1, 2)),
    "constant padding of channels": lambda x: F.pad(x, (0, 0, 1, 1, 2, 0)),
    "reflection": lambda x: F.pad(x, (1, 2, 0, 3), mode="reflect"),
    "replication": lambda x: F.pad(x, (-1, 2, 3, 0), mode="replicate"),
    "joined images": lambda x: torch.cat([x, x[:1]]),
    "joined channels": lambda x: torch.cat([x, x * 2, x[:, :1]], 1),
    "joined rows": lambda x: torch.cat([x, x[:, :, 1:3]], 2),
    "joined columns": lambda x: torch.cat([x[..., :2], x], -1),
    "nearest": lambda x: F.interpolate(x, scale_factor=2),
    "bilinear": lambda x: F.interpolate(x, size=(5, 17), mode="bilinear"),
    "bicubic": lambda x: F.interpolate(x, size=(13, 4), mode="bicubic", align_corners=True),
    "antialias": lambda x: F.interpolate(x, size=(5, 3), mode="bilinear", antialias=True),
}


def parts(found):
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.uint8])
@pytest.mark.parametrize("shape", [(2, 3, 9, 11), (2, 16, 8, 8), (3, 40, 6, 5)])
def test_channels_that_come_last_have_what_they_have_alone(name, dtype, shape):
    if dtype == torch.uint8 and ("pool" in name or name in ("bicubic", "antialias")):
        pytest.skip("torch has it of floating-point numbers")
    x = (torch.arange(math.prod(shape)) * 37 % 101).reshape(shape).to(dtype)
    if dtype.is_floating_point:
        x = x - 50
        if "max" in name:
            x.view(-1)[::97], x.view(-1)[5::89], x.view(-1)[7::83] = math.nan, -math.inf, -0.0
    last = x.to(memory_format=torch.channels_last)
    for found, wanted in zip(parts(CALLS[name](last)), parts(CALLS[name](x)), strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True)
        assert found.is_contiguous(memory_format=torch.channels_last)
        assert found.stride() == torch.empty(found.shape).to(memory_format=torch.channels_last).stride()


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "bilinear"])
def test_gradients_of_channels_that_come_last_are_those_of_channels_in_order(name):
    x = (torch.arange(2 * 3 * 8 * 9) * 37 % 101).reshape(2, 3, 8, 9).double()
    gradients = []
    for order in (torch.contiguous_format, torch.channels_last):
        leaf = x.clone(memory_format=order).requires_grad_()
        y = CALLS[name](leaf)
        (y * torch.arange(y.numel()).reshape(y.shape)).sum().backward()
        gradients.append(leaf.grad)
    assert torch.equal(*gradients)


def test_what_is_not_a_number_is_the_greatest_and_the_first_of_equals_is_found():
    x = torch.tensor([1.0, 3.0, math.nan, 3.0, -math.inf, 2.0, 3.0, 0.0]).reshape(1, 2, 2, 2)
    values, places = F.max_pool2d(x.to(memory_format=torch.channels_last), 2, return_indices=True)
    assert values[0, 0].isnan().all() and values[0, 1].item() == 3
    assert places.flatten().tolist() == [2, 2]
    none = torch.empty(0, 3, 4, 4).to(memory_format=torch.channels_last)
    assert F.max_pool2d(none, 2).shape == (0, 3, 2, 2)
